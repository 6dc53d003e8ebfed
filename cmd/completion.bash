# bash completion for offchip; written by 'offchip completion'
@TABLES@
_offchip() {
    local line=${COMP_LINE:0:COMP_POINT} cur= prev= command= words=() reply=() want= lead= tail= open= each
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] || { cur=${words[-1]} && unset 'words[-1]'; }
    prev=${words[-1]} command=${words[1]}
    COMPREPLY=()
    # The rows of operands: words that are neither options nor their values.
    local operands=() i value=
    for ((i = 2; i < ${#words[@]}; i++)); do
        if [[ $value ]]; then
            value=
        elif [[ ${words[i]} == -* ]]; then
            _offchip_takes_value "$command" "${words[i]}" && value=1
        else
            operands+=("${words[i]}")
        fi
    done
    [[ $value ]] || prev=
    [[ $cur == --*=* ]] && prev=${cur%%=*} lead=$prev= cur=${cur#*=}
    local engine=${operands[0]}
    tail=$cur
    if [[ ! $command ]]; then
        want="$_offchip_commands help --help --version"
    elif [[ $command == help ]]; then
        want=$_offchip_commands
    elif [[ $prev ]]; then
        case $prev in
        -p | --policy | -b | --baseline)
            tail=${cur##*,} open=1
            if [[ $tail == *=* && $tail != *+* ]]; then
                local policy=${cur%:*}
                tail=${tail##*=}
                want=$(_offchip_values "${policy##*[,+]}" "$(each=${cur##*[,:]} && echo "${each%%=*}")")
            elif [[ ${tail##*+} == *=* ]]; then
                local policy=${tail##*+}
                tail=${tail##*=}
                want=$(_offchip_values "${policy%%:*}" "$(each=${policy##*:} && echo "${each%%=*}")")
            elif [[ ${tail##*+} == *:* ]]; then
                tail=${tail##*+}
                want=$(_offchip_params "${tail%%:*}")
                tail=${tail#*:}
            elif [[ $tail == *+* ]]; then
                want=$(_offchip_seconds "$engine")
                tail=${tail##*+}
            else
                want=$(_offchip_policies "$engine")
                [[ $cur == "$tail" ]] && mapfile -t reply < <(compgen -f -X '!*.so' -- "$tail")
            fi
            ;;
        -s | --set | -g | --grid)
            tail=${cur##*,}
            if [[ $tail == *=* ]]; then
                want=$(_offchip_values "$engine" "${tail%%=*}")
                tail=${tail##*=} tail=${tail##*|}
            elif [[ $command == import || $command == export ]]; then
                want=$_offchip_options
            else
                want=$(_offchip_settings "$engine")
                [[ $tail ]] && want+=" $_offchip_numbers"
                [[ $prev == -g || $prev == --grid ]] && want+=" platform= "$(for each in "${operands[@]:1}"; do
                    [[ $each == synth:* ]] && each=${each#synth:} && _offchip_keys "${each%%,*}"
                done)
            fi
            ;;
        -P | --platform | --base)
            want=$_offchip_platforms
            mapfile -t reply < <(compgen -f -X '!*.ini' -- "$cur")
            ;;
        -m | --metric)
            tail=${cur##*,} open=1 want=$_offchip_metrics
            ;;
        --pivot)
            want="policy workload platform engine $_offchip_all_settings"
            ;;
        --mem | --pim)
            [[ $cur == synth:* ]] || want=synth:
            [[ $cur == synth:* ]] && _offchip_workload
            ;;
        *)
            want=$(_offchip_choices "$command" "$prev")
            ;;
        esac
        [[ $want ]] || mapfile -t reply < <(compgen -f -- "$cur")
    elif [[ $cur == -* ]]; then
        want=$(_offchip_long "$command")
    elif [[ $command == list && $engine == platforms ]]; then
        want=$_offchip_platforms
        mapfile -t reply < <(compgen -f -X '!*.ini' -- "$cur")
    elif [[ $cur == synth:* ]]; then
        _offchip_workload
    elif [[ $command == synth && ${#operands[@]} -eq 0 ]]; then
        _offchip_workload
    else
        [[ ${#operands[@]} -eq 0 ]] && want=$(_offchip_first "$command")
        if [[ ! $want ]]; then
            mapfile -t reply < <(compgen -f -- "$cur")
            [[ $command == replay || $command == sweep || $command == graph ]] && want=synth:
        fi
    fi
    local before=${cur%"$tail"}
    for each in $want; do
        [[ $each == "$tail"* ]] && reply+=("$before$each")
    done
    # Bash replaces what follows the last of its word breaks only.
    local cut=$lead$cur
    if [[ $cut == *[:=]* ]]; then
        cut=${cut%"${cut##*[:=]}"}
        cut=${cut#"$lead"}
        reply=("${reply[@]#"$cut"}")
    fi
    COMPREPLY=("${reply[@]}")
    # A comma or a value may follow.
    [[ $open || (${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:]) ]] && compopt -o nospace 2>/dev/null
    return 0
}

# synth:NAME,key=value: the names, then the keys of that name, then the values of a choice.
_offchip_workload() {
    local spec=${cur#synth:} name
    open=1
    name=${spec%%,*}
    if [[ $spec != *,* ]]; then
        tail=$spec want=$_offchip_workloads
    elif [[ ${spec##*,} == *=* ]]; then
        tail=${spec##*=}
        want=$(each=${spec##*,} && _offchip_values "$name" "${each%%=*}")
    else
        tail=${spec##*,} want=$(_offchip_keys "$name")
    fi
}

complete -o filenames -F _offchip offchip
