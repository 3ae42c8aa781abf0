import type { Command } from 'commander'
import { z } from 'zod'

import { localTime } from './output/local-time.js'
import { textTable } from './output/text-table.js'
import { printAnswer } from './session/service-client.js'
import { addServiceOptions } from './session/service-options.js'
import type { ServiceOptions } from './session/service-options.js'
import { EXIT } from './session/session.js'
import type { Session } from './session/session.js'
import { addWatchOption } from './session/watch.js'
import { examples } from './session/shared-options.js'

const Fleet = z.object({
  instances: z.array(
    z.looseObject({
      id: z.string(),
      type: z.string(),
      version: z.string().optional(),
      labels: z.record(z.string(), z.string()),
      health: z.string(),
      problem: z.string().optional(),
      reportedAt: z.string(),
      lastDecisionAt: z.string().optional(),
      bundles: z.array(
        z.looseObject({
          name: z.string(),
          revision: z.string().optional(),
          stagedRevision: z.string().optional(),
          activatedAt: z.string().optional(),
          lagSeconds: z.number(),
        }),
      ),
    }),
  ),
})
const HEADS = [
  ...['instance', 'version', 'bundle', 'revision', 'since', 'lag'],
  ...['health', 'decision', 'reported'],
]
type Instance = z.output<typeof Fleet>['instances'][number]

/** `tidegate fleet`: lists the instances that share a database or report to a service. */
export function defineFleet(command: Command, session: Session): void {
  addServiceOptions(addWatchOption(command))
    .description(
      'Lists the instances of a fleet: version, revision of each bundle, since when, lag, health and last decision. Exits with 1 if one fails, is lost or lags. Requires the role auditor.',
    )
    .addHelpText('after', examples('tidegate fleet', 'tidegate fleet --format json'))
    .action(async (options: ServiceOptions) => {
      const textOf = (fleet: z.output<typeof Fleet>): string =>
        textTable([HEADS, ...fleet.instances.flatMap(rowsOf)], [], session.terminal.columns)
      const answer = await printAnswer(
        options,
        { schema: Fleet, request: { path: '/fleet' }, textOf },
        session,
      )
      const isFine = answer.instances.every(
        ({ health, bundles }) => health === 'ok' && bundles.every(({ lagSeconds }) => lagSeconds === 0),
      )
      session.exitCode = isFine ? EXIT.fine : EXIT.denied
    })
}

/** One row for each bundle. */
function rowsOf(instance: Instance): string[][] {
  const { id, type, version = '', labels, health, problem, reportedAt, lastDecisionAt, bundles } = instance
  const shown = bundles.length === 0 ? [undefined] : bundles
  return shown.map((bundle) => [
    labels['host'] === undefined ? id : `${labels['host']} ${id}`,
    `${type} ${version}`,
    bundle?.name ?? '',
    [bundle?.revision ?? '', bundle?.stagedRevision].filter((each) => each !== undefined).join(' → '),
    bundle?.activatedAt === undefined ? '' : localTime(bundle.activatedAt),
    bundle === undefined || bundle.lagSeconds === 0 ? '' : `${bundle.lagSeconds} s`,
    problem === undefined ? health : `${health}: ${problem}`,
    lastDecisionAt === undefined ? '' : localTime(lastDecisionAt),
    localTime(reportedAt),
  ])
}
