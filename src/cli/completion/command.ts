import { Argument, type Command } from 'commander'
import { addHelp } from '../help.ts'
import { pluginFolders } from '../plugin-folders.ts'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { completionTree } from './tree.ts'
import { zshScript } from './zsh.ts'

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript }

/** `turnpike completion`: a script that lets a shell complete all that there is, commands of plugins too. */
export function addCompletionCommand(program: Command): void {
  const command = program
    .command('completion')
    .description('Print a script that lets your shell complete commands, options and the names of modules.')
    .addArgument(new Argument('<shell>', 'whose script').choices(Object.keys(SCRIPTS)))
  addHelp(command, {
    examples: [
      'source <(turnpike completion bash)',
      'turnpike completion zsh > ~/.zfunc/_turnpike',
      'turnpike completion fish > ~/.config/fish/completions/turnpike.fish',
    ],
    notes: ['Plugins that are installed later are completed once the script is printed anew.'],
  }).action((shell: keyof typeof SCRIPTS) => {
    const modules = [...new Set(pluginFolders().map(({ name }) => name))].toSorted()
    process.stdout.write(SCRIPTS[shell](completionTree(program), modules))
  })
}
