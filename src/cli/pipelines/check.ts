import type { Command } from 'commander'

import { withListing } from '../../orchestrator/list-definitions.js'
import { staticPackages } from '../check/check-definition.js'
import { EXIT, watchFiles } from '../session/session.js'
import { withRequests } from '../input/evaluate-once.js'
import { openPolicies, policyFiles } from '../input/open-policies.js'
import { strictnessOf, type PolicyRequests } from '../../rego/index.js'
import { makeColours } from '../output/colours.js'
import { Progress } from '../output/progress.js'
import type { Session } from '../session/session.js'
import { addOutputOptions, addPolicyOptions, examples, outJson } from '../session/shared-options.js'
import type { OutputOptions, PolicyOptions } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
import { checkPipeline, isOf } from './check-one.js'
import { withStorage } from './connect.js'
import type { StorageOptions } from './connect.js'
import { EstateReport } from './estate-report.js'
import { addWatchOption } from '../session/watch.js'

interface EstateCheckOptions extends PolicyOptions, StorageOptions, OutputOptions {
  readonly application?: string
}

/** `tidegate pipelines check`: what the static policies say of every pipeline there is. */
export function defineEstateCheck(command: Command, session: Session): void {
  addOutputOptions(addWatchOption(addPolicyOptions(command)))
    .description(
      'Asks the static policies about all pipelines of the orchestrator and reports by application. Exits with 1 when one is denied, with 2 when one cannot be checked.',
    )
    .option('--storage-url <url>', 'the storage service (else orchestrator.storageUrl)')
    .option('--application <name>', 'only those of one application')
    .addHelpText('after', examples('tidegate pipelines check', 'tidegate pipelines check --application shop'))
    .action(async (options: EstateCheckOptions) => {
      const { terminal } = session
      await watchFiles(session, policyFiles(options, terminal))
      const report = await checkEstate(options, terminal)
      if (options.format === 'json') outJson(terminal, report.json())
      else terminal.out(report.text(makeColours(terminal.hasColours)))
      const { errors, denied } = report.summary()
      session.exitCode = errors > 0 ? EXIT.error : denied > 0 ? EXIT.denied : EXIT.fine
    })
}

async function checkEstate(options: EstateCheckOptions, terminal: Terminal): Promise<EstateReport> {
  const policies = await openPolicies(options, terminal)
  const { config, snapshot } = policies
  const strictness = strictnessOf(config.policies.strictBuiltinErrors, true)
  const packages = staticPackages(policies)
  const progress = new Progress(terminal)
  const report = new EstateReport()
  await withStorage(options, terminal, async (connection) => {
    const checkAll = (requests: PolicyRequests) =>
      withListing(connection, 'pipelines', async ({ count, definitions }) => {
        let done = 0
        for await (const definition of definitions()) {
          done += 1
          if (isOf(definition, options.application)) {
            report.add(await checkPipeline(definition, { snapshot, requests, strictness }, packages))
          }
          progress.show(bar(done, count))
        }
      })
    await withRequests(config, terminal, checkAll)
  })
  progress.end()
  return report
}

const BAR_WIDTH = 30

function bar(done: number, all: number): string {
  const filled = all === 0 ? BAR_WIDTH : Math.floor((done / all) * BAR_WIDTH)
  return `checking [${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${done} of ${all}`
}
