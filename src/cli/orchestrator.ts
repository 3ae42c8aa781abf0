import type { Command } from 'commander'
import { loadConfig } from '../config/load-config.js'
import { ownAddress } from '../config/sections/served-addresses.js'
import { AppError } from '../errors/app-error.js'
import { sendWithRetries } from '../lib/outbound/send-with-retries.js'
import type { OrchestratorConnection } from '../orchestrator/connection.js'
import { isSuccess, refused } from '../orchestrator/refusal.js'
import { checkOrchestrator } from './doctor/check-orchestrator.js'
import { showFindings } from './doctor/finding.js'
import { Progress } from './output/progress.js'
import { withOrchestrator } from './session/connect-orchestrator.js'
import { addServiceOptions, serviceAddress } from './session/service-options.js'
import type { ServiceOptions } from './session/service-options.js'
import { EXIT } from './session/session.js'
import type { Session } from './session/session.js'
import { examples, addConfigOption, addOutputOptions, outJson } from './session/shared-options.js'
import type { OutputOptions } from './session/shared-options.js'
import { addWatchOption } from './session/watch.js'

/** `tidegate orchestrator`: commands that call the orchestrator. */
export function defineOrchestrator(command: Command, session: Session): void {
  command
    .description('Calls the orchestrator.')
    .addHelpText('after', examples('tidegate orchestrator doctor', 'tidegate orchestrator refresh'))
  defineOrchestratorDoctor(command.command('doctor'), session)
  defineRefresh(command.command('refresh'), session)
}

interface DoctorOptions extends ServiceOptions {
  readonly config?: string
}

/** `tidegate orchestrator doctor`: checks the connection in both directions. */
function defineOrchestratorDoctor(command: Command, session: Session): void {
  const { terminal } = session
  addConfigOption(addWatchOption(addServiceOptions(command)))
    .description(
      "Sends the requests of the orchestrator's plugins to a running service, without a token, and the service's requests to the orchestrator's storage service and gateway. Reports what is missing and where to set it. With the token of an auditor, checks events, too. Exits with 1 if something is wrong.",
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
  refreshed: 'refreshed: the cloud component is reloading its account configuration',
  not_supported:
    'not supported: the endpoint does not exist; current cloud components reload their account configuration by themselves',
} as const

/** `tidegate orchestrator refresh`: makes the cloud component reload its accounts. */
function defineRefresh(command: Command, session: Session): void {
  const { terminal } = session
  addOutputOptions(addConfigOption(command))
    .description(
      'Makes the cloud component reload its account configuration (orchestrator.refresh). A component without that endpoint (404 or 405) is no error.',
    )
    .option('--url <url>', 'URL to call (default: orchestrator.refresh.url)')
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
    'No URL to call. Set orchestrator.refresh.url (TIDEGATE_ORCHESTRATOR_REFRESH_URL) or pass --url.',
    { code: 'not_configured' },
  )
}

/**
 * Result of a refresh. `not_supported` is the response of current cloud components, which refresh
 * by themselves every minute.
 */
type RefreshOutcome = 'refreshed' | 'not_supported' | 'not_configured'

const NOT_SUPPORTED: readonly number[] = [404, 405]
const MAX_RESPONSE_BYTES = 1024 * 1024

/**
 * Makes the cloud component reload its accounts (`orchestrator.refresh`). Raises `unavailable` on
 * failure.
 */
export async function refreshConfiguration(
  { settings, client, now, wait, random }: OrchestratorConnection,
  signal?: AbortSignal,
): Promise<RefreshOutcome> {
  const { refresh, timeoutMs, attempts } = settings
  if (refresh.url === undefined) return 'not_configured'
  const response = await sendWithRetries(
    client,
    { method: refresh.method, url: refresh.url, timeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES, signal },
    { attempts, budgetMs: attempts * timeoutMs, now, wait, random },
  )
  if (isSuccess(response)) return 'refreshed'
  if (NOT_SUPPORTED.includes(response.status)) return 'not_supported'
  throw refused('refresh the configuration', response)
}
