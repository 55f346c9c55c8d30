import { keyChangeFields, newKeyFields } from '../../accounts/keys/fields.ts'
import { autoRechargeFields, checkoutFields, portalFields } from '../../commerce/billing/billing-request.ts'
import { anyOf, count, described, list, nullable, object, ref, text, time } from './shapes.ts'

const key = {
  id: text,
  prefix: { ...text, description: 'The beginning of the key, to identify it.' },
  pipelineConfig: nullable('string'),
  createdAt: time,
}
const keyOptions = { name: text, limits: { type: 'object' } }

/** Schemas of the routes of keys and billing. */
export const ACCOUNT_SCHEMAS = {
  NewKey: described(newKeyFields),
  KeyChange: described(keyChangeFields),
  CreatedKey: object({ ...key, key: { ...text, description: 'The key itself, shown only once.' } }, keyOptions),
  ListedKey: object({ ...key, lastUsedAt: nullable('string'), revokedAt: nullable('string') }, keyOptions),
  KeyList: object({ keys: list(ref('ListedKey')) }),
  ChangedKey: object({ ok: { type: 'boolean', const: true }, key: object(key, keyOptions) }),
  Checkout: described(checkoutFields),
  Portal: described(portalFields),
  AutoRecharge: described(autoRechargeFields),
  Page: object({ url: { ...text, description: 'The page to open in the browser.' } }),
  Balance: object(
    {
      tier: anyOf('local', 'free', 'pro', 'team'),
      credits: { ...count, description: '100,000 are 1 USD.' },
      currentPeriodEnd: nullable('string'),
      autoRechargeEnabled: { type: 'boolean' },
      upgradeUrl: nullable('string'),
    },
    {
      autoRechargeThreshold: count,
      autoRechargeAmount: count,
      autoRechargeMonthlyLimit: count,
      autoRechargeDisabledReason: nullable('string'),
      local: { type: 'boolean' },
    },
  ),
} as const
