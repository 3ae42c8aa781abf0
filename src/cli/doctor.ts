import type { Command } from 'commander'

import type { Config } from '../config/config.js'
import { loadConfig } from '../config/load-config.js'
import { ownAddress } from '../config/sections/served-addresses.js'
import { attempt, ok } from './doctor/finding.js'
import type { Finding } from './doctor/finding.js'
import { lookAtCertificate } from './doctor/look-at-certificate.js'
import { lookAtDatabase } from './doctor/look-at-database.js'
import { lookAtDirectory } from './doctor/look-at-directory.js'
import { showFindings } from './doctor/show-findings.js'
import { lookAtService } from './doctor/look-at-service.js'
import { Progress } from './output/progress.js'
import { clientOf } from './session/service-client.js'
import { addServiceOptions, serviceAddress } from './session/service-options.js'
import type { ServiceOptions } from './session/service-options.js'
import type { Session } from './session/session.js'
import { addConfigOption, examples } from './session/shared-options.js'
import type { Terminal } from './session/terminal.js'
import { addWatchOption } from './session/watch.js'

interface DoctorOptions extends ServiceOptions {
  readonly config?: string
  readonly dataDir?: string
}

/** `tidegate doctor`: what is wrong with a configuration, a data directory and a running service. */
export function defineDoctor(command: Command, session: Session): void {
  addConfigOption(addWatchOption(addServiceOptions(command)))
    .description(
      'Looks at the configuration, at a data directory or the database, and at a running service (by default the one of the configuration), and says what is wrong and what to do. Changes nothing. Exits with 1 when something is wrong.',
    )
    .option('--data-dir <dir>', 'the data directory (else that of the configuration)')
    .addHelpText('after', examples('tidegate doctor', 'tidegate doctor --data-dir /var/lib/tidegate'))
    .action(async (options: DoctorOptions) => {
      const { terminal } = session
      const findings = await new Progress(terminal).during('looking …', look(options, terminal))
      showFindings(findings, options, session)
    })
}

async function look(options: DoctorOptions, terminal: Terminal): Promise<Finding[]> {
  let dataDir = options.dataDir
  let found: Config | undefined
  const advice = 'tidegate config tells all its problems'
  const configuration = await attempt('configuration', advice, () => {
    const config = loadConfig({ file: options.config, env: terminal.env })
    dataDir ??= config.dataDir
    found = config
    return ok('configuration', 'it can be used')
  })
  const certificate = found === undefined ? [] : await lookAtCertificate(found)
  const database = found === undefined ? [] : await lookAtDatabase(found)
  const directory = dataDir === undefined ? [] : await lookAtDirectory(dataDir, database.length === 0)
  const own = found === undefined ? undefined : ownAddress(found.server)
  const service = await lookAtService(clientOf(await serviceAddress(options, terminal, own)))
  return [configuration, ...certificate, ...database, ...directory, ...service]
}
