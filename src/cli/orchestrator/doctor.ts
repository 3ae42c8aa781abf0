import type { Command } from 'commander'

import { loadConfig } from '../../config/load-config.js'
import { ownAddress } from '../../config/sections/served-addresses.js'
import { lookAtOrchestrator } from '../doctor/look-at-orchestrator.js'
import { showFindings } from '../doctor/show-findings.js'
import { Progress } from '../output/progress.js'
import { addServiceOptions, serviceAddress } from '../session/service-options.js'
import type { ServiceOptions } from '../session/service-options.js'
import type { Session } from '../session/session.js'
import { addConfigOption, examples } from '../session/shared-options.js'
import { addWatchOption } from '../session/watch.js'

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
      const looking = lookAtOrchestrator(address, orchestrator)
      showFindings(await new Progress(terminal).during('asking …', looking), options, session)
    })
}
