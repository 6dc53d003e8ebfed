# fish completion for offchip; written by 'offchip completion fish'. The program says what may come.
function __offchip_complete
    set -l typed (commandline -opc)
    set -l token (commandline -ct)
    set -l lead (string match -r -- '^--[^=]*=' $token)
    for each in ($typed[1] completion ask -- $typed[2..-1] $token 2>/dev/null)
        switch $each
            case ':files*'
                set -l ending (string replace ':files' '' -- $each)
                for path in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' $token))
                    set -l name (string split \t -- $path)[1]
                    if string match -q -- "*$ending" $name; or string match -q -- '*/' $name
                        echo "$lead$name"
                    end
                end
            case ':open'
            case '*'
                echo $each
        end
    end
end
complete -c offchip -f -a '(__offchip_complete)'
