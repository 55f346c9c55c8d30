import type { Command } from 'commander'
import { ConfigError } from '../../config/config-error.ts'
import { loadConfig } from '../../config/load.ts'
import { addHelp } from '../help.ts'
import { checkConfiguration } from './configuration.ts'
import { type Finding, fault } from './finding.ts'
import { checkModules } from './modules.ts'
import { checkPlace } from './place.ts'
import { checkProviders } from './providers.ts'
import { checkServices } from './services.ts'

const MARKS = { ok: 'ok      ', advice: 'advice  ', fault: 'FAULT   ' } as const

/** `turnpike doctor`: finds what is commonly wrong, and says how to mend it. */
export function addDoctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .description('Find what is commonly wrong with a gateway, and how to mend it. Changes nothing; sends no prompt.')
    .option('--offline', 'ask no provider')
    .option('--json', 'print JSON')
    .action(async ({ offline = false, json = false }: { offline?: boolean; json?: boolean }) => {
      const findings = await examine(offline)
      process.stdout.write(json ? `${JSON.stringify(findings, undefined, 2)}\n` : findings.map(render).join(''))
      if (findings.some(({ level }) => level === 'fault')) process.exitCode = 1
    })
  addHelp(command, {
    examples: ['turnpike doctor', 'turnpike doctor --offline --json'],
    exits: { 1: 'there is a fault; advice is none, and a configuration that cannot be used is one' },
  })
}

async function examine(isOffline: boolean): Promise<Finding[]> {
  try {
    const loaded = loadConfig(process.env)
    const { config } = loaded
    return [
      ...checkConfiguration(loaded),
      ...(await checkModules()),
      ...(await checkPlace(config)),
      ...(await checkServices(config)),
      ...(isOffline ? [] : await checkProviders(config)),
    ]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [fault(error.message, 'docs/reference/configuration.md lists what there is.')]
  }
}

function render({ level, says, mend }: Finding): string {
  const indented = says.replaceAll('\n', `\n${' '.repeat(MARKS.ok.length)}`)
  return `${MARKS[level]}${indented}\n${mend === undefined ? '' : `${' '.repeat(MARKS.ok.length)}→ ${mend}\n`}`
}
