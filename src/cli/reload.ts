import type { Command } from 'commander'
import { z } from 'zod'

import { printAnswer } from './session/service-client.js'
import { addServiceOptions } from './session/service-options.js'
import type { ServiceOptions } from './session/service-options.js'
import { EXIT } from './session/session.js'
import type { Session } from './session/session.js'
import { examples } from './session/shared-options.js'

const Reloaded = z.object({
  changed: z.array(z.string()),
  needsRestart: z.array(z.string()).default([]),
  durationMs: z.number(),
})

const HELP = `
Everything is checked first and applied together. After an error the service keeps its configuration.
Keys such as server.addr, store and dataDir need a restart. SIGHUP does the same.
${examples('tidegate reload --token-file admin-token')}`

/** `tidegate reload`: makes a running service read its configuration again. */
export function defineReload(command: Command, session: Session): void {
  addServiceOptions(command)
    .description(
      'Makes a running service read its configuration file again, with the gates, tokens, certificates, sources of policies, definitions of analyses and secrets that it names. Requires the role admin.',
    )
    .addHelpText('after', HELP)
    .action(async (options: ServiceOptions) => {
      const request = { method: 'POST', path: '/reload' } as const
      await printAnswer(options, { schema: Reloaded, request, textOf: reloadedText }, session)
      session.exitCode = EXIT.fine
    })
}

function reloadedText({ changed, needsRestart, durationMs }: z.output<typeof Reloaded>): string {
  const list = (keys: readonly string[]): string => keys.map((key) => `  ${key}\n`).join('')
  const restart =
    needsRestart.length === 0 ? '' : `changed, but only a restart applies it:\n${list(needsRestart)}`
  if (changed.length === 0) return `reloaded in ${durationMs} ms: nothing changed\n${restart}`
  return `reloaded in ${durationMs} ms:\n${list(changed)}${restart}`
}
