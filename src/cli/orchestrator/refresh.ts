import type { Command } from 'commander'

import { AppError } from '../../errors/app-error.js'
import type { OrchestratorConnection } from '../../orchestrator/connection.js'
import { refreshConfiguration } from '../../orchestrator/refresh-configuration.js'
import { EXIT } from '../session/session.js'
import type { Session } from '../session/session.js'
import { addConfigOption, addOutputOptions, examples, outJson } from '../session/shared-options.js'
import type { OutputOptions } from '../session/shared-options.js'
import { withOrchestrator } from './connect.js'

interface RefreshOptions extends OutputOptions {
  readonly config?: string
  readonly url?: string
}

const SENTENCES = {
  refreshed: 'refreshed: the cloud component reads its account configuration again',
  not_supported:
    'not supported: there is no such endpoint; current cloud components read their account configuration again by themselves',
} as const

/** `tidegate orchestrator refresh`: has the cloud component read its accounts again. */
export function defineRefresh(command: Command, session: Session): void {
  const { terminal } = session
  addOutputOptions(addConfigOption(command))
    .description(
      'Has the cloud component read its account configuration again (orchestrator.refresh). A component without such an endpoint, 404 or 405, is no error.',
    )
    .option('--url <url>', 'what to call (else orchestrator.refresh.url)')
    .addHelpText(
      'after',
      examples(
        'tidegate orchestrator refresh',
        'tidegate orchestrator refresh --url http://127.0.0.1:7002/config-refresh',
      ),
    )
    .action(async ({ config, url, format }: RefreshOptions) => {
      const flags =
        url === undefined ? [] : [{ path: ['orchestrator', 'refresh', 'url'], value: url, origin: '--url' }]
      const outcome = await withOrchestrator({ config, flags }, terminal, refresh)
      if (format === 'json') outJson(terminal, { outcome })
      else terminal.out(`${SENTENCES[outcome]}\n`)
      session.exitCode = EXIT.fine
    })
}

async function refresh(connection: OrchestratorConnection): Promise<keyof typeof SENTENCES> {
  const outcome = await refreshConfiguration(connection)
  if (outcome !== 'not_configured') return outcome
  throw new AppError(
    'invalid',
    'nothing was called: set orchestrator.refresh.url (TIDEGATE_ORCHESTRATOR_REFRESH_URL) or give --url',
    { code: 'not_configured' },
  )
}
