import type { Command } from 'commander'
import { addRaiseCommand } from './raise.ts'

/** Adds `turnpike conversation`: raises budgets of conversations. */
export function addConversationCommand(program: Command): void {
  const conversation = program.command('conversation').description('Raise budgets of conversations.')
  addRaiseCommand(conversation)
}
