# Reads as a whole before it acts: a body that reads stdin could otherwise eat the rest of this text.
main() {
    local job=$1 tag=$2 stat fields boot
    # A TERM to the group must still leave an exit file. `trap ''` would be inherited by the body; this is not.
    trap : TERM INT HUP QUIT
    read -r stat < "/proc/$$/stat"
    fields=(${stat##*) })
    read -r boot < /proc/sys/kernel/random/boot_id
    # Who resumed meanwhile, and gave this attempt up, has made the file: then nothing may run any more.
    set -C
    printf '%s %s %s\n' "$$" "${fields[19]}" "$boot$tag" > "$job/pid" || return
    set +C
    bash "$job/script" < /dev/null >> "$job/log" 2>&1
    printf '%s\n' "$?" > "$job/exit"
}
main "$@"
exit
