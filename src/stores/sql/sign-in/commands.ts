import { beginSignIn, takeSignIn } from './attempts.ts'
import { completeSignIn } from './complete.ts'
import { beginDevice, decideDevice, findDevice, redeemDevice } from './devices.ts'
import { bindFirstOperator, offerFirstOperator } from './first-operator.ts'
import { refreshSessionKey } from './session-keys.ts'
import { endSession, listSessions, revokeSession, revokeSessions, useSession } from './sessions.ts'

/** Commands of sign-ins and sessions of one statement. */
export const singleSignInCommands = {
  'sign-in.take': takeSignIn,
  'sign-in.use': useSession,
  'sign-in.list': listSessions,
  'sign-in.find-device': findDevice,
  'sign-in.bind-operator': bindFirstOperator,
}

/** Commands of sign-ins and sessions of several statements. */
export const signInCommands = {
  'sign-in.begin': beginSignIn,
  'sign-in.complete': completeSignIn,
  'sign-in.revoke': revokeSession,
  'sign-in.revoke-all': revokeSessions,
  'sign-in.end': endSession,
  'sign-in.begin-device': beginDevice,
  'sign-in.decide-device': decideDevice,
  'sign-in.redeem-device': redeemDevice,
  'sign-in.refresh-key': refreshSessionKey,
  'sign-in.offer-operator': offerFirstOperator,
}
