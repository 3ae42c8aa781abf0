import type { Command } from 'commander'

import { wrongUse } from '../session/session.js'
import { addServiceOptions } from '../session/service-options.js'
import type { Session } from '../session/session.js'
import { examples } from '../session/shared-options.js'
import type { TryOptions } from './run-options.js'

/** `tidegate analysis try APPLICATION`: what its queries bring today. */
export function defineTry(command: Command, session: Session): void {
  addServiceOptions(command)
    .summary('ask every query of a definition')
    .description(
      'Asks every query of an application’s definition for the time until now and shows both series of each metric and the first lines of each log; nothing is kept or judged. Exits with 1 where a query failed, brought nothing, or asked both sides the same.',
    )
    .argument('<application>', 'the application')
    .option('--minutes <n>', 'the length of the window, in minutes', minutesOf, 60)
    .option('--baseline <name=value>', 'a value of the scope of the baseline (repeat it)', addValue, {})
    .option('--canary <name=value>', 'a value of the scope of the canary (repeat it)', addValue, {})
    .addHelpText(
      'after',
      examples(
        'tidegate analysis try shop',
        'tidegate analysis try shop --baseline version=v1 --canary version=v2 --minutes 180',
      ),
    )
    .action(async (application: string, options: TryOptions) => {
      const { tryDefinition } = await import('./try-definition.js')
      session.exitCode = await tryDefinition(application, options, session.terminal)
    })
}

function minutesOf(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text)
  throw wrongUse(`--minutes must be a whole number, not '${text}'`)
}

function addValue(text: string, before: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const at = text.indexOf('=')
  if (at > 0) return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
  throw wrongUse(`a value of a scope is written name=value, not '${text}'`)
}
