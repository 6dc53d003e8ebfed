#compdef offchip
# zsh completion for offchip; written by 'offchip completion zsh'. The program says what may come.
_offchip() {
    local each ending= files= ret=1
    local -a found suffix
    for each in "${(@f)$("${(Q)words[1]/#\~/$HOME}" completion ask -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
        case $each in
        (:files*) files=1 ending=${each#:files} ;;
        (:open) suffix=(-S '') ;;
        (?*) found+=("$each") ;;
        esac
    done
    (( $#found )) && compadd "${suffix[@]}" -a found && ret=0
    if [[ -n $files ]]; then
        [[ $PREFIX == --*=* ]] && compset -P '*='
        _files ${ending:+-g} ${ending:+"*$ending"} && ret=0
    fi
    return ret
}

if [[ $funcstack[1] == _offchip ]]; then
    _offchip "$@"
else
    compdef _offchip offchip
fi
