# The man page of a command: its name, usage and examples as its --help on standard input has them, around the text of PAGE.
function escaped(text) {
    gsub(/[*_\\~]/, "\\\\&", text)
    return text
}
NR == 1 {
    print "offchip-" $2 "(1)\n\n# NAME\n\noffchip-" escaped(substr($0, 9)) "\n\n# SYNOPSIS\n"
}
/^Usage: / {
    part = "usage"
    sub(/^Usage:/, "")
}
part && /^$/ {
    part = ""
}
part == "usage" {
    sub(/^ +/, "")
    usage = usage (usage ? "++\n" : "") escaped($0)
}
part == "examples" {
    sub(/^ +/, "")
    examples = examples "\n\t" escaped($0) "\n"
}
/^Examples:/ {
    part = "examples"
}
END {
    print usage "\n"
    while ((getline line < PAGE) > 0)
        print line
    printf "\n# EXAMPLES\n%s", examples
}
