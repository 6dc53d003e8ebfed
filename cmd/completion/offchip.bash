# bash completion for offchip; written by 'offchip completion'. The program says what may come, else a file does.
_offchip() {
    local line=${COMP_LINE:0:COMP_POINT} words=()
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    mapfile -t COMPREPLY < <("${words[0]/#\~/$HOME}" completion ask -- "${words[@]:1}" 2>/dev/null)
    # Bash replaces what follows the last of its word breaks only.
    local cut=${words[-1]%"${words[-1]##*[:=]}"}
    COMPREPLY=("${COMPREPLY[@]#"$cut"}")
    [[ ${COMPREPLY[0]} == *: ]] && compopt -o nospace 2>/dev/null
    return 0
}

complete -o default -F _offchip offchip
