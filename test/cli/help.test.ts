import test from 'ava'
import { Command } from 'commander'
import { EXIT_CODES } from '../../src/cli/exit-codes.ts'
import { examplesOf } from '../../src/cli/help.ts'
import { addListed, listingOf } from '../../src/cli/listing.ts'
import { createProgram, createWholeProgram as program } from '../../src/cli/main.ts'

/** Commands that start a process. */
const WITHOUT_JSON = ['turnpike codex', 'turnpike login', 'turnpike logout', 'turnpike start', 'turnpike plugin test']

function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf)
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`
}

/** Returns the help as a terminal shows it. */
function helpOf(command: Command): string {
  let help = ''
  command.configureOutput({ writeOut: (text) => (help += text) })
  command.outputHelp()
  return help
}

test('help: every command has a summary, an example and its exit codes', async (t) => {
  const leaves = leavesOf(await program())
  t.true(leaves.length > 20, `${leaves.length} commands`)
  for (const leaf of leaves) {
    const name = nameOf(leaf)
    const help = helpOf(leaf)
    t.regex(leaf.description(), /^[A-Z].*\.$/, name)
    t.true(examplesOf(leaf).length > 0, name)
    for (const example of examplesOf(leaf)) t.true(help.includes(`  $ ${example}\n`), name)
    t.regex(help, /\nExit codes:\n {2}0 {3}\S/, name)
    for (const argument of leaf.registeredArguments) t.not(argument.description, '', name)
    for (const { flags, description } of leaf.options) t.not(description, '', `${name} ${flags}`)
  }
})

test('help: every command that prints data prints JSON, too', async (t) => {
  const without = leavesOf(await program()).filter(({ options }) => !options.some(({ long }) => long === '--json'))
  t.deepEqual(without.map(nameOf).toSorted(), WITHOUT_JSON.toSorted())
})

test('help: the examples are commands that parse', async (t) => {
  const all = await program()
  const taken: string[] = []
  for (const leaf of leavesOf(all)) leaf.action(() => void taken.push(nameOf(leaf)))
  for (const leaf of leavesOf(all)) {
    let own = 0
    for (const example of examplesOf(leaf)) {
      for (const [, words = ''] of example.matchAll(/(?<![\w/.])turnpike ([^|>)]+)/g)) {
        const parts = (words.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'))
        taken.length = 0
        await t.notThrowsAsync(all.parseAsync(parts, { from: 'user' }), example)
        if (taken[0] === nameOf(leaf)) own++
      }
    }
    t.true(own > 0, `${nameOf(leaf)} has an example of itself`)
  }
})

test('help: that of the whole command has the table of exit codes', async (t) => {
  const help = helpOf(await createProgram())
  for (const [code, meaning] of Object.entries(EXIT_CODES)) t.true(help.includes(`  ${code.padEnd(2)}  ${meaning}\n`))
})

test('help: a default that is shown is one that can be given', async (t) => {
  for (const leaf of leavesOf(await program()))
    for (const { flags, parseArg, defaultValue, defaultValueDescription } of leaf.options) {
      if (parseArg === undefined || defaultValue === undefined || typeof defaultValue === 'object') continue
      const shown = defaultValueDescription ?? String(defaultValue)
      t.deepEqual(parseArg(shown, undefined), defaultValue, `${nameOf(leaf)} ${flags} (default: ${shown})`)
    }
})

test('help: of commands that are only listed, it is that of the commands themselves', async (t) => {
  const whole = await program()
  const listed = new Command('turnpike').description(whole.description())
  addListed(listed, listingOf(whole))
  const commandsOf = (command: Command) => helpOf(command).match(/\nCommands:\n[\s\S]*? {2}help \[command\] .*\n/)?.[0]
  t.truthy(commandsOf(whole))
  t.is(commandsOf(listed), commandsOf(whole))
})
