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

/** Adds `turnpike doctor`: finds common faults and suggests a remedy for each. */
export function addDoctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .description('Find common faults of a gateway, with a remedy for each. Changes nothing; sends no prompt.')
    .option('--offline', 'call no provider')
    .option('--json', 'print JSON')
    .action(async ({ offline = false, json = false }: { offline?: boolean; json?: boolean }) => {
      const findings = await examine(offline)
      process.stdout.write(json ? `${JSON.stringify(findings, undefined, 2)}\n` : findings.map(render).join(''))
      if (findings.some(({ level }) => level === 'fault')) process.exitCode = 1
    })
  addHelp(command, {
    examples: ['turnpike doctor', 'turnpike doctor --offline --json'],
    exits: { 1: 'a fault was found (an invalid configuration is one, advice is not)' },
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
    return [fault(error.message, 'docs/reference/configuration.md lists all options.')]
  }
}

function render({ level, says, mend }: Finding): string {
  const indented = says.replaceAll('\n', `\n${' '.repeat(MARKS.ok.length)}`)
  return `${MARKS[level]}${indented}\n${mend === undefined ? '' : `${' '.repeat(MARKS.ok.length)}→ ${mend}\n`}`
}
