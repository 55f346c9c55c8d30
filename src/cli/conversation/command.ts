import type { Command } from 'commander'
import { addListCommand } from './list.ts'
import { addRaiseCommand } from './raise.ts'
import { addShowCommand } from './show.ts'

/** Adds `turnpike conversation`: lists and shows conversations, and raises their budgets. */
export function addConversationCommand(program: Command): void {
  const conversation = program
    .command('conversation')
    .description('List conversations, show their turns, or raise their budgets.')
  addListCommand(conversation)
  addShowCommand(conversation)
  addRaiseCommand(conversation)
}
