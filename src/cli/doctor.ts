import type { Command } from 'commander'

import type { Config } from '../config/config.js'
import { loadConfig } from '../config/load-config.js'
import { ownAddress } from '../config/sections/served-addresses.js'
import { attempt, ok, showFindings, bad, warning } from './doctor/finding.js'
import type { Finding } from './doctor/finding.js'
import { checkConfiguredDatabase } from './doctor/check-database.js'
import { checkDataDirectory } from './doctor/check-directory.js'
import { checkService } from './doctor/check-service.js'
import { Progress } from './output/progress.js'
import { clientOf } from './session/service-client.js'
import { addServiceOptions, serviceAddress } from './session/service-options.js'
import type { ServiceOptions } from './session/service-options.js'
import type { Session } from './session/session.js'
import { addConfigOption, examples } from './session/shared-options.js'
import type { Terminal } from './session/terminal.js'
import { addWatchOption } from './session/watch.js'
import { checkTls, readTlsFiles } from '../main/files/tls-files.js'
import { localTime } from './output/local-time.js'

interface DoctorOptions extends ServiceOptions {
  readonly config?: string
  readonly dataDir?: string
}

/** `tidegate doctor`: checks a configuration, a data directory and a service. */
export function defineDoctor(command: Command, session: Session): void {
  addConfigOption(addWatchOption(addServiceOptions(command)))
    .description(
      'Checks the configuration, the data directory or database, and a running service (by default that of the configuration). Reports problems and their fixes. Changes nothing. Exits with 1 if something is wrong.',
    )
    .option('--data-dir <dir>', 'data directory (default: that of the configuration)')
    .addHelpText('after', examples('tidegate doctor', 'tidegate doctor --data-dir /var/lib/tidegate'))
    .action(async (options: DoctorOptions) => {
      const { terminal } = session
      const findings = await new Progress(terminal).during('looking …', runChecks(options, terminal))
      showFindings(findings, options, session)
    })
}

async function runChecks(options: DoctorOptions, terminal: Terminal): Promise<Finding[]> {
  let dataDir = options.dataDir
  let found: Config | undefined
  const advice = 'list all problems with tidegate config'
  const configuration = await attempt('configuration', advice, () => {
    const config = loadConfig({ file: options.config, env: terminal.env })
    dataDir ??= config.dataDir
    found = config
    return ok('configuration', 'valid')
  })
  const certificate = found === undefined ? [] : await checkCertificate(found)
  const database = found === undefined ? [] : await checkConfiguredDatabase(found)
  const directory = dataDir === undefined ? [] : await checkDataDirectory(dataDir, database.length === 0)
  const own = found === undefined ? undefined : ownAddress(found.server)
  const service = await checkService(clientOf(await serviceAddress(options, terminal, own)))
  return [configuration, ...certificate, ...database, ...directory, ...service]
}

const MS_PER_DAY = 86_400_000
const SOON_DAYS = 14
const LIST_ADVICE = 'update server.tlsClientCrl; client certificates of that CA are rejected until then'
const ADVICE = 'renew it; the service reloads the files by itself'

/** Checks the certificate of a configuration, if it has one. */
async function checkCertificate(config: Config): Promise<Finding[]> {
  if (config.server.tlsCertificate === undefined) return []
  const finding = await attempt('certificate', 'use files that belong together', () => {
    const settings = readTlsFiles(config)
    if (settings === undefined) return bad('certificate', 'it has no key', 'set server.tlsKey')
    const { startsAtMs, endsAtMs, listEndsAtMs = Infinity } = checkTls(settings, config)
    const now = Date.now()
    const end = localTime(endsAtMs)
    if (now >= endsAtMs) return bad('certificate', `expired on ${end}`, ADVICE)
    if (now < startsAtMs) return bad('certificate', `not valid before ${localTime(startsAtMs)}`, ADVICE)
    if (now >= listEndsAtMs)
      return bad('certificate', `a revocation list expired on ${localTime(listEndsAtMs)}`, LIST_ADVICE)
    if (endsAtMs - now < SOON_DAYS * MS_PER_DAY) return warning('certificate', `expires on ${end}`, ADVICE)
    return ok('certificate', `valid until ${end}`)
  })
  return [finding]
}
