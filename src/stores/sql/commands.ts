import { openAccount, suspendAccount } from './accounts/account.ts'
import { appendAudit, listAudit, listRecentAudit } from './accounts/audit.ts'
import {
  changeKey,
  createKey,
  findKey,
  keysInReach,
  listKeys,
  revokeKey,
  rotateKey,
  touchKeys,
} from './accounts/keys.ts'
import { listKeyFacts, listManagedKeys } from './accounts/managed-keys.ts'
import { findNames } from './accounts/names.ts'
import { changePerson, createPerson, listMemberships, listPeople } from './accounts/people.ts'
import { listTags, setTag } from './accounts/tags.ts'
import { changeTeam, createTeam, listTeams, setMembership } from './accounts/teams.ts'
import { findBlockedAccess, findCrossedCaps } from './alerts/facts.ts'
import {
  leaseAlertWork,
  listAlerts,
  pruneAlerts,
  raiseAlerts,
  settleDeliveries,
  takeDeliveries,
} from './alerts/outbox.ts'
import { billingCommands, singleBillingCommands } from './billing/commands.ts'
import { readBalance } from './credits/balance.ts'
import { endCalls } from './credits/end.ts'
import { appendToLedger } from './credits/entries.ts'
import { listEntries } from './credits/list.ts'
import { sweepCalls } from './credits/sweep.ts'
import { takeCalls } from './credits/take.ts'
import { listPayments, reportPayments } from './payments/books.ts'
import { claimPayment } from './payments/claim.ts'
import { listSettledPayments } from './payments/list.ts'
import { reconcilePayment } from './payments/reconcile.ts'
import {
  commitSessionCall,
  leaveSessionCall,
  openSession,
  readSession,
  releaseSessionCall,
  reserveSessionCall,
  sweepSessionCalls,
} from './payments/sessions.ts'
import {
  leavePayment,
  movePayment,
  openPaymentWindow,
  prunePayments,
  releasePayment,
  renewPayment,
  takeOverduePayments,
} from './payments/steps.ts'
import { findLogged, listHeads, listStored, proveConsistency, proveInclusion, readLog } from './receipts/log.ts'
import { findReceipt, getReceipt, listReceipts, putReceipts } from './receipts/receipts.ts'
import {
  contentBytes,
  deleteResponse,
  findResponse,
  pruneExpired,
  pruneOldest,
  pruneRevoked,
  putResponse,
  sumResponses,
} from './responses/commands.ts'
import {
  pruneBudgets,
  pruneConversations,
  pruneHours,
  pruneReceipts,
  pruneRequests,
  pruneSlices,
  pruneWindows,
} from './retention/prune.ts'
import {
  changeProviderKey,
  changeSetting,
  listSettingChanges,
  readSettings,
  readSettingVersion,
} from './settings/commands.ts'
import { signInCommands, singleSignInCommands } from './sign-in/commands.ts'
import { admitSpend } from './spend/admit.ts'
import { listBudgets, raiseBudget } from './spend/budgets.ts'
import { flushSpend } from './spend/flush.ts'
import { growSpend, reserveSpend, settleSpend, sweepSpend } from './spend/holds.ts'
import { readScopes } from './spend/of-scopes.ts'
import { listOver } from './spend/over.ts'
import { openBudget, readSpend } from './spend/windows.ts'
import { readFirstHour } from './telemetry/first-hour.ts'
import { readGroups } from './telemetry/groups.ts'
import { readLosses } from './telemetry/losses.ts'
import { readModuleFigures } from './telemetry/module-figures.ts'
import { putRequests } from './telemetry/put.ts'
import { findRequest, listRequests } from './telemetry/read.ts'
import { findRun, listAgentIds, listRuns, listTurns } from './telemetry/read-conversations.ts'
import { readUsage } from './telemetry/read-usage.ts'
import { listRefusals, readKeySpend } from './telemetry/recent.ts'

/**
 * Commands that PostgreSQL runs without a transaction, which saves two round trips: of one statement, or of several that read
 * the ledger's rows, which never change.
 */
const withoutTransaction = {
  'spend.read': readSpend,
  'spend.of-scopes': readScopes,
  'spend.prune': pruneWindows,
  'spend.open-budget': openBudget,
  'spend.budgets': listBudgets,
  'spend.over': listOver,
  'spend.prune-budgets': pruneBudgets,
  'payments.open-window': openPaymentWindow,
  'payments.move': movePayment,
  'payments.renew': renewPayment,
  'payments.release': releasePayment,
  'payments.leave': leavePayment,
  'payments.list-settled': listSettledPayments,
  'payments.list': listPayments,
  'payments.report': reportPayments,
  'sessions.open': openSession,
  'sessions.commit': commitSessionCall,
  'sessions.read': readSession,
  'ledger.list': listEntries,
  'receipt.get': getReceipt,
  'receipt.find': findReceipt,
  'receipt.list': listReceipts,
  'receipt.prune': pruneReceipts,
  'log.read': readLog,
  'log.inclusion': proveInclusion,
  'log.consistency': proveConsistency,
  'log.heads': listHeads,
  'log.receipts': findLogged,
  'log.stored': listStored,
  'responses.find': findResponse,
  'responses.content-bytes': contentBytes,
  'responses.sum': sumResponses,
  'responses.delete': deleteResponse,
  'telemetry.find': findRequest,
  'telemetry.list': listRequests,
  'telemetry.usage': readUsage,
  'telemetry.first-hour': readFirstHour,
  'telemetry.runs': listRuns,
  'telemetry.run': findRun,
  'telemetry.agents': listAgentIds,
  'telemetry.turns': listTurns,
  'telemetry.losses': readLosses,
  'telemetry.groups': readGroups,
  'telemetry.modules': readModuleFigures,
  'telemetry.key-spend': readKeySpend,
  'telemetry.refusals': listRefusals,
  'telemetry.prune': pruneRequests,
  'telemetry.prune-conversations': pruneConversations,
  'telemetry.prune-hours': pruneHours,
  'telemetry.prune-slices': pruneSlices,
  'keys.list': listKeys,
  'keys.find': findKey,
  'keys.in-reach': keysInReach,
  'keys.list-managed': listManagedKeys,
  'keys.facts': listKeyFacts,
  'names.find': findNames,
  'people.list': listPeople,
  'people.memberships': listMemberships,
  'teams.list': listTeams,
  'tags.list': listTags,
  'audit.list': listAudit,
  'audit.recent': listRecentAudit,
  'audit.append': appendAudit,
  'settings.version': readSettingVersion,
  'settings.read': readSettings,
  'settings.list': listSettingChanges,
  'alerts.lease': leaseAlertWork,
  'alerts.crossed-caps': findCrossedCaps,
  'alerts.blocked': findBlockedAccess,
  ...singleBillingCommands,
  ...singleSignInCommands,
}

/** All commands of the database, on either engine. */
export const commands = {
  ...withoutTransaction,
  'spend.reserve': reserveSpend,
  'spend.admit': admitSpend,
  'spend.grow': growSpend,
  'spend.settle': settleSpend,
  'spend.flush': flushSpend,
  'spend.sweep': sweepSpend,
  'spend.raise-budget': raiseBudget,
  'payments.claim': claimPayment,
  'payments.take-overdue': takeOverduePayments,
  'payments.prune': prunePayments,
  'payments.reconcile': reconcilePayment,
  'sessions.reserve': reserveSessionCall,
  'sessions.release': releaseSessionCall,
  'sessions.leave': leaveSessionCall,
  'sessions.sweep': sweepSessionCalls,
  'ledger.take': takeCalls,
  'ledger.end': endCalls,
  'ledger.sweep': sweepCalls,
  'ledger.append': appendToLedger,
  'account.balance': readBalance,
  'receipt.put': putReceipts,
  'responses.put': putResponse,
  'responses.prune-expired': pruneExpired,
  'responses.prune-revoked': pruneRevoked,
  'responses.prune-oldest': pruneOldest,
  'telemetry.put': putRequests,
  'account.open': openAccount,
  'account.suspend': suspendAccount,
  'keys.create': createKey,
  'keys.change': changeKey,
  'keys.rotate': rotateKey,
  'people.create': createPerson,
  'people.change': changePerson,
  'teams.create': createTeam,
  'teams.change': changeTeam,
  'teams.set-member': setMembership,
  'tags.set': setTag,
  'keys.revoke': revokeKey,
  'keys.touch': touchKeys,
  'settings.change': changeSetting,
  'settings.change-key': changeProviderKey,
  'alerts.list': listAlerts,
  'alerts.raise': raiseAlerts,
  'alerts.take': takeDeliveries,
  'alerts.settle': settleDeliveries,
  'alerts.prune': pruneAlerts,
  ...billingCommands,
  ...signInCommands,
}

/** The name of a command. */
export type CommandName = keyof typeof commands

/** Input of a command; plain data, since it may be sent to another thread. */
export type CommandInput<Name extends CommandName> = Parameters<(typeof commands)[Name]>[1]

/** Output of a command; plain data. */
export type CommandOutput<Name extends CommandName> = Awaited<ReturnType<(typeof commands)[Name]>>

/** Names of the commands that need no transaction. */
export const WITHOUT_TRANSACTION: ReadonlySet<string> = new Set(Object.keys(withoutTransaction))
