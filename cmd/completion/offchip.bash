# bash completion for offchip; written by 'offchip completion bash'. The program says what may come.
_offchip() {
    local line=${COMP_LINE:0:COMP_POINT} words=() reply=() each cur lead= cut ending open=
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    cur=${words[-1]}
    [[ $cur == --*=* ]] && lead=${cur%%=*}=
    while IFS= read -r each; do
        case $each in
        :files*)
            ending=${each#:files}
            while IFS= read -r each; do
                reply+=("$lead$each")
            done < <(compgen -f ${ending:+-X "!*$ending"} -- "${cur#"$lead"}")
            ;;
        :open) open=1 ;;
        *) reply+=("$each") ;;
        esac
    done < <("${words[0]/#\~/$HOME}" completion ask -- "${words[@]:1}" 2>/dev/null)
    # Bash replaces what follows the last of its word breaks only.
    if [[ $cur == *[:=]* ]]; then
        cut=${cur%"${cur##*[:=]}"}
        reply=("${reply[@]#"$cut"}")
    fi
    COMPREPLY=("${reply[@]}")
    [[ $open ]] && compopt -o nospace 2>/dev/null
    return 0
}

complete -o filenames -F _offchip offchip
