import { z } from 'zod'
import { defineProviderKind } from '../kind.ts'
import { DemoProvider } from './provider.ts'

export const kind = defineProviderKind({
  name: 'demo',
  summary: 'Models that need no credential and call no model, for the first minute.',
  options: z
    .enum(['auto', 'on', 'off'])
    .default('auto')
    .describe('The built-in demo provider. `auto`: only while no provider has a credential.'),
  create: (setting) => (setting === 'off' ? [] : [new DemoProvider({ stepsBack: setting === 'auto' })]),
})
