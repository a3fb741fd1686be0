# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_majordomus_global_optspecs
    string join \n repo= h/help V/version
end

function __fish_majordomus_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_majordomus_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_majordomus_using_subcommand
    set -l cmd (__fish_majordomus_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c majordomus -n "__fish_majordomus_needs_command" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_needs_command" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_needs_command" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "mcp" -d 'Serve one MCP client on standard input and output, through the checkout\'s shared server'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "serve" -d 'Run the checkout\'s shared server without a client of its own'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "init" -d 'Tell the clients in use how to start this checkout\'s server, or take that back'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "hooks" -d 'List what clients run by themselves for this checkout; install it, or take it back'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "demo" -d 'Watch three clients meet, and two go on after a kill, in a throwaway checkout'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "doctor" -d 'Walk the whole path from the checkout to a client\'s answer, and say where it breaks'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "logs" -d 'Print what the servers of this checkout logged'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "bug-report" -d 'Print what somebody who helps needs to know, without secrets and paths'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "status" -d 'Show the checkout\'s server, or what was found in its place'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "stop" -d 'End a `serve` server; with clients attached, hand ownership to one of them'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "peers" -d 'List who works in this checkout, on what, and where they meet'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "announce" -d 'Tell the others what you are about to do, and on which paths'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "remember" -d 'Write one fact down for every agent and person of this repository'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "recall" -d 'Find what was written down'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "notes" -d 'List the notes of this repository, or print one'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "sync" -d 'Take in what the team has written down, and send what it does not have yet'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "store" -d 'Merge the stores of mnemon, an agent\'s memory, across your machines'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "capabilities" -d 'List everything the server can do'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "describe" -d 'Show one capability: schemas, names, examples'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "call" -d 'Call a capability of the running server'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "open" -d 'Open the API page, signed in, in a browser'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "generate" -d 'Write the files that are projections of the source: OpenAPI, reference, client files, completions'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "validate" -d 'Check the registry and every projection of it'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "completions" -d 'Print a completion script for a shell'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "man" -d 'Print a manual page'
complete -c majordomus -n "__fish_majordomus_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c majordomus -n "__fish_majordomus_using_subcommand mcp" -l port -d 'Serve at this port, in place of the checkout\'s own' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand mcp" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand mcp" -l inspect -d 'Print what would be served, and go: no port, no lease, nothing written'
complete -c majordomus -n "__fish_majordomus_using_subcommand mcp" -l standalone -d 'Serve this client alone: no port, no lease, no peers, nothing written'
complete -c majordomus -n "__fish_majordomus_using_subcommand mcp" -l conformance -d 'Serve the fixtures of the protocol\'s conformance suite as well'
complete -c majordomus -n "__fish_majordomus_using_subcommand mcp" -l json -d 'With `--inspect`: print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand mcp" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand mcp" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand serve" -l port -d 'Serve at this port, in place of the checkout\'s own' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand serve" -l auth -d 'Who may call; `off` is for tools that cannot send a header, and is warned of in the log' -r -f -a "token\t'Every request needs the token'
off\t'None does; anybody on this machine can call everything'"
complete -c majordomus -n "__fish_majordomus_using_subcommand serve" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand serve" -l conformance -d 'Serve the fixtures of the protocol\'s conformance suite as well'
complete -c majordomus -n "__fish_majordomus_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c majordomus -n "__fish_majordomus_using_subcommand serve" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand init" -l client -d 'Write for this client, in use or not; may be given several times' -r -f -a "claude\t''
gemini\t''
codex\t''
copilot\t''
qwen\t''
opencode\t''
vscode\t''
cursor\t''
zed\t''"
complete -c majordomus -n "__fish_majordomus_using_subcommand init" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand init" -l all -d 'Write for every client that is known'
complete -c majordomus -n "__fish_majordomus_using_subcommand init" -l undo -d 'Take back what was written'
complete -c majordomus -n "__fish_majordomus_using_subcommand init" -s y -l yes -d 'Do not ask'
complete -c majordomus -n "__fish_majordomus_using_subcommand init" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand init" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand init" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and not __fish_seen_subcommand_from install uninstall help" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and not __fish_seen_subcommand_from install uninstall help" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and not __fish_seen_subcommand_from install uninstall help" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and not __fish_seen_subcommand_from install uninstall help" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and not __fish_seen_subcommand_from install uninstall help" -f -a "install" -d 'Have the clients in use run the hooks of a part'
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and not __fish_seen_subcommand_from install uninstall help" -f -a "uninstall" -d 'Take back what was installed'
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and not __fish_seen_subcommand_from install uninstall help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and __fish_seen_subcommand_from install" -l client -d 'Only for this client, in use or not; may be given several times' -r -f -a "claude\t''
codex\t''"
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and __fish_seen_subcommand_from install" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and __fish_seen_subcommand_from install" -s y -l yes -d 'Do not ask'
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and __fish_seen_subcommand_from install" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and __fish_seen_subcommand_from install" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and __fish_seen_subcommand_from install" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and __fish_seen_subcommand_from uninstall" -l client -d 'Only for this client, in use or not; may be given several times' -r -f -a "claude\t''
codex\t''"
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and __fish_seen_subcommand_from uninstall" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and __fish_seen_subcommand_from uninstall" -s y -l yes -d 'Do not ask'
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and __fish_seen_subcommand_from uninstall" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and __fish_seen_subcommand_from uninstall" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and __fish_seen_subcommand_from uninstall" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "install" -d 'Have the clients in use run the hooks of a part'
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "uninstall" -d 'Take back what was installed'
complete -c majordomus -n "__fish_majordomus_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c majordomus -n "__fish_majordomus_using_subcommand demo" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand demo" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand demo" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand demo" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand doctor" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand doctor" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand doctor" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand logs" -s n -l lines -d 'How many of the last lines to begin with' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand logs" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand logs" -s f -l follow -d 'Go on with what comes, until interrupted'
complete -c majordomus -n "__fish_majordomus_using_subcommand logs" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand logs" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand logs" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand bug-report" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand bug-report" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand bug-report" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand bug-report" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand status" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand status" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand status" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand status" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand stop" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand stop" -l all -d 'End every client\'s process in this checkout as well'
complete -c majordomus -n "__fish_majordomus_using_subcommand stop" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand stop" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand stop" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand peers" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand peers" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand peers" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand peers" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand announce" -l label -d 'Keeps announcements of one terminal apart; the next one under the same label replaces this one' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand announce" -l for -d 'How long it stays, such as 90s, 30m or 2h' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand announce" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand announce" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand announce" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand announce" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand remember" -l body -d 'The text, in Markdown; `-` reads it from standard input' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand remember" -l kind -d 'What it is about' -r -f -a "memory\t''
decision\t''
work-state\t''
person\t''"
complete -c majordomus -n "__fish_majordomus_using_subcommand remember" -l tag -d 'A word to find it by; may be given again' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand remember" -l path -d 'A path or glob that it is about, from the root of the checkout; may be given again' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand remember" -l supersedes -d 'The id of a note whose place it takes; may be given again' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand remember" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand remember" -l draft -d 'Keep it on this machine, found by nobody, until it is promoted'
complete -c majordomus -n "__fish_majordomus_using_subcommand remember" -l dry-run -d 'Only say what would be written'
complete -c majordomus -n "__fish_majordomus_using_subcommand remember" -l not-secret -d 'What was refused as a secret is none'
complete -c majordomus -n "__fish_majordomus_using_subcommand remember" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand remember" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand remember" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand recall" -l path -d 'A path that you work on, from the root of the checkout: notes about it come first; may be given again' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand recall" -l kind -d 'Only notes of this kind' -r -f -a "memory\t''
decision\t''
work-state\t''
person\t''"
complete -c majordomus -n "__fish_majordomus_using_subcommand recall" -l limit -d 'How many at most' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand recall" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand recall" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand recall" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand recall" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -l kind -d 'Only notes of this kind' -r -f -a "memory\t''
decision\t''
work-state\t''
person\t''"
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -l limit -d 'How many at most, the newest first' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -l pending -d 'Only those that the team does not have yet'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -a "show" -d 'Print one note, with its text'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -a "pending" -d 'List what the team does not have yet, drafts among them'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -a "promote" -d 'Make a draft a note'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -a "acknowledge" -d 'Say that what looks like a secret in a note that is held back is none, and send it'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -a "reject" -d 'Give a draft up'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -a "edit" -d 'Correct a note'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -a "supersede" -d 'Say that another note takes the place of one'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -a "forget" -d 'Take a note away; the history of the notes keeps its text'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -a "purge" -d 'Take a note out of the history too, here and for the team'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -a "recover" -d 'Take over what an earlier boot wrote down and did not send, on a file system that other machines may use'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -a "path" -d 'Print where the repository of the notes is'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -a "export" -d 'Write every note to a file of its own'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -a "share" -d 'Name a remote that the team\'s notes go to, and accept it here'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -a "trust" -d 'Accept the remote that the checkout names for the team\'s notes'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and not __fish_seen_subcommand_from show pending promote acknowledge reject edit supersede forget purge recover path export share trust help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from show" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from show" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from pending" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from pending" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from pending" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from pending" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from promote" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from promote" -l yes -d 'Do not ask'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from promote" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from promote" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from promote" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from acknowledge" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from acknowledge" -l yes -d 'Do not ask'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from acknowledge" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from acknowledge" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from acknowledge" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from reject" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from reject" -l yes -d 'Do not ask'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from reject" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from reject" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from reject" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from edit" -l title -d 'The fact in one line' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from edit" -l body -d 'The whole text' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from edit" -l status -d 'How things stand' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from edit" -l tag -d 'A word to find it by, in place of those it has; may be given again' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from edit" -l path -d 'A path or glob that it is about, in place of those it has; may be given again' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from edit" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from edit" -l not-secret -d 'What was refused as a secret is none'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from edit" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from edit" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from edit" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from supersede" -l by -d 'The note that takes its place' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from supersede" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from supersede" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from supersede" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from supersede" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from forget" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from forget" -l yes -d 'Do not ask'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from forget" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from forget" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from forget" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from purge" -l confirm -d 'The id once more, in place of typing it when asked' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from purge" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from purge" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from purge" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from purge" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from recover" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from recover" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from recover" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from recover" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from path" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from path" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from path" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from export" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from export" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from export" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from share" -l remote -d 'The remote, as git calls it here' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from share" -l ref -d 'The ref of the notes on the remote' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from share" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from share" -l review -d 'A person promotes each note that an agent writes before the team gets it'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from share" -l unreviewed -d 'Nobody does, also where strangers can read the remote'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from share" -l yes -d 'Do not ask'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from share" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from share" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from share" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from trust" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from trust" -l yes -d 'Do not ask'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from trust" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from trust" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from trust" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print one note, with its text'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from help" -f -a "pending" -d 'List what the team does not have yet, drafts among them'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from help" -f -a "promote" -d 'Make a draft a note'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from help" -f -a "acknowledge" -d 'Say that what looks like a secret in a note that is held back is none, and send it'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from help" -f -a "reject" -d 'Give a draft up'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from help" -f -a "edit" -d 'Correct a note'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from help" -f -a "supersede" -d 'Say that another note takes the place of one'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from help" -f -a "forget" -d 'Take a note away; the history of the notes keeps its text'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from help" -f -a "purge" -d 'Take a note out of the history too, here and for the team'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from help" -f -a "recover" -d 'Take over what an earlier boot wrote down and did not send, on a file system that other machines may use'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from help" -f -a "path" -d 'Print where the repository of the notes is'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from help" -f -a "export" -d 'Write every note to a file of its own'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from help" -f -a "share" -d 'Name a remote that the team\'s notes go to, and accept it here'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from help" -f -a "trust" -d 'Accept the remote that the checkout names for the team\'s notes'
complete -c majordomus -n "__fish_majordomus_using_subcommand notes; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c majordomus -n "__fish_majordomus_using_subcommand sync" -l hook -d 'As a client\'s hook: end after this many seconds, say one line at most, and never fail' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand sync" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand sync" -l adopt -d 'Take what the remote has now for all that the team has, after its notes were removed or rewritten'
complete -c majordomus -n "__fish_majordomus_using_subcommand sync" -l pull -d 'Only take in what the team has'
complete -c majordomus -n "__fish_majordomus_using_subcommand sync" -l push -d 'Only send what the team does not have yet'
complete -c majordomus -n "__fish_majordomus_using_subcommand sync" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand sync" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand sync" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -f -a "enable" -d 'Agree that a store of this machine is merged through the folder, or a remote of git'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -f -a "disable" -d 'Take that back; nothing is removed'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -f -a "export" -d 'Write what is new here into the folder'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -f -a "import" -d 'Merge what the folder has into the store'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -f -a "sync" -d 'Import, then export'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -f -a "diff" -d 'Say what another machine and this one do not have of each other'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -f -a "log" -d 'Say what was done with a store, the newest first'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -f -a "undo" -d 'Take back what a run wrote to a store'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -f -a "retire" -d 'Take over what a machine wrote that does not come back, and remove its segments'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -f -a "status" -d 'Say what is known of the stores that are enabled here'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -f -a "verify" -d 'Compare each store with its registers, change nothing, and print the digest that other machines print too'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -f -a "install-hooks" -d 'As `hooks install stores`: clients import when a session starts, and export when a turn ends'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -f -a "uninstall-hooks" -d 'As `hooks uninstall stores`'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and not __fish_seen_subcommand_from enable disable export import sync diff log undo retire status verify install-hooks uninstall-hooks help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from enable" -l git -d 'Merge it through a remote of git: https://, ssh, a folder, or http:// on this machine. With `MNEMON_SYNC_DIR` set, through the folder too' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from enable" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from enable" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from enable" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from enable" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from disable" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from disable" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from disable" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from disable" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from export" -l hook -d 'As a client\'s hook: end after this many seconds, say nothing but what was in the way, and never fail' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from export" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from export" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from export" -l dry-run -d 'Say what would be done, and do nothing'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from export" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from import" -l hook -d 'As a client\'s hook: end after this many seconds, say nothing but what was in the way, and never fail' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from import" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from import" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from import" -l dry-run -d 'Say what would be done, and do nothing'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from import" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from import" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from sync" -l hook -d 'As a client\'s hook: end after this many seconds, say nothing but what was in the way, and never fail' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from sync" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from sync" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from sync" -l dry-run -d 'Say what would be done, and do nothing'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from sync" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from sync" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from diff" -l store -d 'Which store; needed where more than one is enabled' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from diff" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from diff" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from diff" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from log" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from log" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from log" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from log" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from undo" -l run -d 'The run\'s number in `store log`; without it, the last one that wrote something' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from undo" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from undo" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from undo" -l dry-run -d 'Say what would be done, and do nothing'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from undo" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from undo" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from retire" -l store -d 'Which store; needed where more than one is enabled' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from retire" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from retire" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from retire" -l dry-run -d 'Say what would be done, and do nothing'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from retire" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from retire" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from status" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from status" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from status" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from verify" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from verify" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from verify" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from install-hooks" -l client -d 'Only for this client, in use or not; may be given several times' -r -f -a "claude\t''
codex\t''"
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from install-hooks" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from install-hooks" -s y -l yes -d 'Do not ask'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from install-hooks" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from install-hooks" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from install-hooks" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from uninstall-hooks" -l client -d 'Only for this client, in use or not; may be given several times' -r -f -a "claude\t''
codex\t''"
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from uninstall-hooks" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from uninstall-hooks" -s y -l yes -d 'Do not ask'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from uninstall-hooks" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from uninstall-hooks" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from uninstall-hooks" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "enable" -d 'Agree that a store of this machine is merged through the folder, or a remote of git'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "disable" -d 'Take that back; nothing is removed'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "export" -d 'Write what is new here into the folder'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "import" -d 'Merge what the folder has into the store'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "sync" -d 'Import, then export'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "diff" -d 'Say what another machine and this one do not have of each other'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "log" -d 'Say what was done with a store, the newest first'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "undo" -d 'Take back what a run wrote to a store'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "retire" -d 'Take over what a machine wrote that does not come back, and remove its segments'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "status" -d 'Say what is known of the stores that are enabled here'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Compare each store with its registers, change nothing, and print the digest that other machines print too'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "install-hooks" -d 'As `hooks install stores`: clients import when a session starts, and export when a turn ends'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "uninstall-hooks" -d 'As `hooks uninstall stores`'
complete -c majordomus -n "__fish_majordomus_using_subcommand store; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c majordomus -n "__fish_majordomus_using_subcommand capabilities" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand capabilities" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand capabilities" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand capabilities" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand describe" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand describe" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand describe" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand describe" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand call" -l json -d 'The arguments, one JSON object; `-` reads it from standard input' -r
complete -c majordomus -n "__fish_majordomus_using_subcommand call" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand call" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand call" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand open" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand open" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand open" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c majordomus -n "__fish_majordomus_using_subcommand open" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand generate" -l out -d 'Write below this folder, in place of the source tree' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand generate" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand generate" -l check -d 'Write nothing; exit 10 and name the stale files'
complete -c majordomus -n "__fish_majordomus_using_subcommand generate" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand generate" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand generate" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand validate" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand validate" -l json -d 'Print one JSON value'
complete -c majordomus -n "__fish_majordomus_using_subcommand validate" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand validate" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand completions" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand completions" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand completions" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand man" -l repo -d 'Where to look for the checkout, in place of the working directory' -r -F
complete -c majordomus -n "__fish_majordomus_using_subcommand man" -s h -l help -d 'Print help'
complete -c majordomus -n "__fish_majordomus_using_subcommand man" -s V -l version -d 'Print version'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "mcp" -d 'Serve one MCP client on standard input and output, through the checkout\'s shared server'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "serve" -d 'Run the checkout\'s shared server without a client of its own'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "init" -d 'Tell the clients in use how to start this checkout\'s server, or take that back'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "hooks" -d 'List what clients run by themselves for this checkout; install it, or take it back'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "demo" -d 'Watch three clients meet, and two go on after a kill, in a throwaway checkout'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "doctor" -d 'Walk the whole path from the checkout to a client\'s answer, and say where it breaks'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "logs" -d 'Print what the servers of this checkout logged'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "bug-report" -d 'Print what somebody who helps needs to know, without secrets and paths'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "status" -d 'Show the checkout\'s server, or what was found in its place'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "stop" -d 'End a `serve` server; with clients attached, hand ownership to one of them'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "peers" -d 'List who works in this checkout, on what, and where they meet'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "announce" -d 'Tell the others what you are about to do, and on which paths'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "remember" -d 'Write one fact down for every agent and person of this repository'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "recall" -d 'Find what was written down'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "notes" -d 'List the notes of this repository, or print one'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "sync" -d 'Take in what the team has written down, and send what it does not have yet'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "store" -d 'Merge the stores of mnemon, an agent\'s memory, across your machines'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "capabilities" -d 'List everything the server can do'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "describe" -d 'Show one capability: schemas, names, examples'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "call" -d 'Call a capability of the running server'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "open" -d 'Open the API page, signed in, in a browser'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "generate" -d 'Write the files that are projections of the source: OpenAPI, reference, client files, completions'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "validate" -d 'Check the registry and every projection of it'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "completions" -d 'Print a completion script for a shell'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "man" -d 'Print a manual page'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and not __fish_seen_subcommand_from mcp serve init hooks demo doctor logs bug-report status stop peers announce remember recall notes sync store capabilities describe call open generate validate completions man help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "install" -d 'Have the clients in use run the hooks of a part'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "uninstall" -d 'Take back what was installed'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from notes" -f -a "show" -d 'Print one note, with its text'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from notes" -f -a "pending" -d 'List what the team does not have yet, drafts among them'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from notes" -f -a "promote" -d 'Make a draft a note'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from notes" -f -a "acknowledge" -d 'Say that what looks like a secret in a note that is held back is none, and send it'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from notes" -f -a "reject" -d 'Give a draft up'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from notes" -f -a "edit" -d 'Correct a note'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from notes" -f -a "supersede" -d 'Say that another note takes the place of one'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from notes" -f -a "forget" -d 'Take a note away; the history of the notes keeps its text'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from notes" -f -a "purge" -d 'Take a note out of the history too, here and for the team'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from notes" -f -a "recover" -d 'Take over what an earlier boot wrote down and did not send, on a file system that other machines may use'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from notes" -f -a "path" -d 'Print where the repository of the notes is'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from notes" -f -a "export" -d 'Write every note to a file of its own'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from notes" -f -a "share" -d 'Name a remote that the team\'s notes go to, and accept it here'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from notes" -f -a "trust" -d 'Accept the remote that the checkout names for the team\'s notes'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "enable" -d 'Agree that a store of this machine is merged through the folder, or a remote of git'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "disable" -d 'Take that back; nothing is removed'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "export" -d 'Write what is new here into the folder'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "import" -d 'Merge what the folder has into the store'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "sync" -d 'Import, then export'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "diff" -d 'Say what another machine and this one do not have of each other'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "log" -d 'Say what was done with a store, the newest first'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "undo" -d 'Take back what a run wrote to a store'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "retire" -d 'Take over what a machine wrote that does not come back, and remove its segments'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "status" -d 'Say what is known of the stores that are enabled here'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "verify" -d 'Compare each store with its registers, change nothing, and print the digest that other machines print too'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "install-hooks" -d 'As `hooks install stores`: clients import when a session starts, and export when a turn ends'
complete -c majordomus -n "__fish_majordomus_using_subcommand help; and __fish_seen_subcommand_from store" -f -a "uninstall-hooks" -d 'As `hooks uninstall stores`'
