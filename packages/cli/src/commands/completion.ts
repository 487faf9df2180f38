import { Argument, Command } from 'commander'

interface Node {
  readonly path: string
  readonly words: readonly string[]
}

export function completionCommand(whole: () => Promise<Command>): Command {
  return new Command('completion')
    .description('Print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash']))
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  $ aex completion bash > ~/.local/share/bash-completion/completions/aex
  $ source <(aex completion bash)`,
    )
    .action(async (_shell: string, { json }: { json?: boolean }) => {
      const nodes = [...nodesOf(await whole(), 'aex')]
      console.log(json ? JSON.stringify(nodes, undefined, 2) : bashScript(nodes))
    })
}

/** Every command with the words that may follow it. */
function* nodesOf(command: Command, path: string): Generator<Node> {
  const options = command.options
    .filter(({ hidden }) => !hidden)
    .map(({ long, short }) => long ?? short ?? '')
  const visible = command.createHelp().visibleCommands(command)
  const children = visible.map((child) => child.name())
  yield { path, words: [...children, ...options, '--help'] }
  for (const child of visible) yield* nodesOf(child, `${path} ${child.name()}`)
}

/** Names of commands and options have no character that a shell interprets. */
function bashScript(nodes: readonly Node[]): string {
  const quoted = nodes.slice(1).map(({ path }) => `"${path}"`)
  return `# bash completion of aex
_aex() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="aex" words="" at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "$path \${COMP_WORDS[at]}" in
      ${quoted.join(' | ')}) path="$path \${COMP_WORDS[at]}" ;;
    esac
  done
  case "$path" in
${nodes.map(({ path, words }) => `    "${path}") words="${words.join(' ')}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _aex aex`
}
