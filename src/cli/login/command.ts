import type { Command } from 'commander'
import { addHelp } from '../help.ts'
import { parseUrl } from '../remote/gateway.ts'
import { savedSession, saveSession, sessionsFile } from '../remote/saved-sessions.ts'
import { revokeToken, signInByDevice } from './device.ts'
import { freshKey } from './print-key.ts'

/** Adds `turnpike login`: signs this machine in at a gateway, with the user's approval in a browser. */
export function addLoginCommand(program: Command): void {
  const command = program
    .command('login')
    .description('Sign in at a gateway: approve a code in the browser.')
    .argument('<url>', 'the gateway’s address', parseUrl)
    .option('--print-key', 'print an API key for this machine, created or replaced when needed; asks nothing')
    .action((url: string, { printKey }: { printKey?: boolean }) => (printKey ? printFreshKey(url) : login(url)))
  addHelp(command, {
    examples: ['turnpike login https://gateway.example.com', 'turnpike login https://gateway.example.com --print-key'],
    exits: { 1: 'denied, expired, or not signed in', 69: 'no gateway replies' },
    notes: [
      'The session is saved for this user alone, and commands with --url use it. With --print-key the command is a helper for clients that run one for their key, such as Claude Code’s apiKeyHelper; a key is replaced after 12 hours.',
    ],
  })
}

/** Adds `turnpike logout`: ends the session of a gateway. */
export function addLogoutCommand(program: Command): void {
  const command = program
    .command('logout')
    .description('End the session that `turnpike login` has saved.')
    .argument('<url>', 'the gateway’s address', parseUrl)
    .action(logout)
  addHelp(command, {
    examples: ['turnpike logout https://gateway.example.com'],
    exits: { 69: 'no gateway replies; the saved session is removed all the same' },
    notes: ['Keys that --print-key has created stay in force; revoke them on the page Keys.'],
  })
}

async function login(url: string): Promise<void> {
  const granted = await signInByDevice(url, (page, code) =>
    process.stdout.write(`Open ${page}\nand type the code ${code}\n`),
  )
  const before = savedSession(url)
  saveSession(url, { ...before, ...granted })
  process.stdout.write(`Signed in at ${url}; saved in ${sessionsFile()}.\n`)
  // Two sessions of one machine would both stay in the list.
  if (before !== undefined) await revokeToken(url, before.token)
}

async function printFreshKey(url: string): Promise<void> {
  process.stdout.write(`${await freshKey(url)}\n`)
}

async function logout(url: string): Promise<void> {
  const saved = savedSession(url)
  saveSession(url, undefined)
  if (saved === undefined) return void process.stdout.write(`Not signed in at ${url}.\n`)
  await revokeToken(url, saved.token)
  process.stdout.write(`Signed out of ${url}.\n`)
}
