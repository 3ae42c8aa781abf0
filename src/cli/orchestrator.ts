import type { Command } from 'commander'

import { EXIT } from './session/session.js'
import type { Session } from './session/session.js'
import { examples, addConfigOption, addOutputOptions, outJson } from './session/shared-options.js'
import type { OutputOptions } from './session/shared-options.js'
import { loadConfig } from '../config/load-config.js'
import { ownAddress } from '../config/sections/served-addresses.js'
import { checkOrchestrator } from './doctor/check-orchestrator.js'
import { showFindings } from './doctor/finding.js'
import { Progress } from './output/progress.js'
import { addServiceOptions, serviceAddress } from './session/service-options.js'
import type { ServiceOptions } from './session/service-options.js'
import { addWatchOption } from './session/watch.js'
import { AppError } from '../errors/app-error.js'
import type { OrchestratorConnection } from '../orchestrator/connection.js'
import { refreshConfiguration } from '../orchestrator/refresh-configuration.js'
import { withOrchestrator } from './session/connect-orchestrator.js'

/** `tidegate orchestrator`: what is asked of the orchestrator itself. */
export function defineOrchestrator(command: Command, session: Session): void {
  command
    .description('Asks the orchestrator itself for something.')
    .addHelpText('after', examples('tidegate orchestrator doctor', 'tidegate orchestrator refresh'))
  defineOrchestratorDoctor(command.command('doctor'), session)
  defineRefresh(command.command('refresh'), session)
}

interface DoctorOptions extends ServiceOptions {
  readonly config?: string
}

/** `tidegate orchestrator doctor`: asks the service as the orchestrator's plugins do, and the orchestrator as the service does. */
export function defineOrchestratorDoctor(command: Command, session: Session): void {
  const { terminal } = session
  addConfigOption(addWatchOption(addServiceOptions(command)))
    .description(
      "Asks a running service as the orchestrator's plugins ask it, without a token, and the orchestrator's storage service and gateway as the service asks them; says what is missing and where it is set. With the token of an auditor it tells of events, too. Exits with 1 when something is wrong.",
    )
    .addHelpText(
      'after',
      examples(
        'tidegate orchestrator doctor --config /etc/tidegate/tidegate.yaml',
        'tidegate orchestrator doctor --url http://tidegate:8181 --token-file auditor-token',
      ),
    )
    .action(async (options: DoctorOptions) => {
      const { orchestrator, server } = loadConfig({ file: options.config, env: terminal.env })
      const address = await serviceAddress(options, terminal, ownAddress(server))
      const looking = checkOrchestrator(address, orchestrator)
      showFindings(await new Progress(terminal).during('asking …', looking), options, session)
    })
}

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
