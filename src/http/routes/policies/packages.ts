import { z } from 'zod'

import type { ExceptionBook } from '../../../enforcement/exceptions/exception-book.js'
import { levelFor } from '../../../enforcement/levels.js'
import type { Levels, PackageLevel } from '../../../enforcement/levels.js'
import { Subject } from '../../../enforcement/about/subject.js'
import { LEVELS, hasWarnRule, pathOfKey, printPackageName, questionOf } from '../../../rego/index.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import type { PackageCosts } from '../../metrics/package-costs.js'
import { Time, json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { packageTestRoutes } from './package-tests.js'
import type { PackageTestsDeps } from './package-tests.js'

export interface PackageRoutesDeps extends PackageTestsDeps {
  readonly enforcement: { readonly levels: Levels }
  readonly exceptions: Pick<ExceptionBook, 'all'>
  readonly now: () => number
  /** Returns the cost of evaluations by package. */
  readonly costs: () => Promise<PackageCosts>
}

const Package = z.object({
  package: z.string(),
  level: z.enum(LEVELS).describe('The level for applications without an entry of their own.'),
  warns: z.boolean().describe('Whether it has a `warn` rule.'),
  levels: z
    .array(
      z.object({
        level: z.enum(LEVELS),
        from: z.string().describe('The pattern in `policies.levels`, or `annotation`.'),
        applications: z.array(z.string()).optional(),
        until: Time.optional(),
        reason: z.string().optional(),
        hasEnded: z.boolean().describe('Whether its end has passed, so that it enforces.'),
      }),
    )
    .describe('The entries for the package, in order of precedence.'),
  exceptions: z.int().describe('Number of its exceptions that have not ended.'),
  cost: z
    .object({
      evaluations: z.int().describe('Number of measured evaluations.'),
      share: z.number().describe('Its part of the cost of all packages, from 0 to 1.'),
      mean: z.number().describe('Loop iterations, function calls and work of built-ins of an evaluation.'),
      p99AtMost: z
        .number()
        .optional()
        .describe('Upper bound of the bucket of the 99th percentile; absent above the largest.'),
    })
    .optional()
    .describe('Evaluation cost since the start, from every 16th decision; absent if it was not measured.'),
})

const { route } = routesOf<PackageRoutesDeps>()

/** How the packages with verdicts or warnings count, and their tests and coverage. */
export const packageRoutes = [
  ...packageTestRoutes,
  route({
    method: 'GET',
    path: '/policies/packages',
    roles: ['auditor', 'approver', 'author'],
    handler: 'policies',
    summary: 'Packages with their levels and exceptions',
    answers: { 200: json('The packages by name.', z.object({ packages: z.array(Package) })) },
    answer: async (_, { policies, enforcement: { levels }, exceptions, now, costs: readCosts }) => {
      const [snapshot, nowMs, costs] = [policies.current, now(), await readCosts()]
      const current = exceptions.all.filter(({ untilMs }) => untilMs > nowMs)
      const packages = snapshot.packages.filter(
        (key) => questionOf(snapshot, key).parts.length > 0 || hasWarnRule(snapshot, key),
      )
      return jsonAnswer({
        packages: packages.map((key): z.output<typeof Package> => {
          const [name, stated] = [printPackageName(pathOfKey(key)), levels.of(snapshot, key)]
          return {
            package: name,
            level: levelFor(stated, new Subject(undefined), nowMs),
            warns: hasWarnRule(snapshot, key),
            levels: stated.map((level) => toView(level, nowMs)),
            exceptions: current.filter((exception) => exception.package === name).length,
            cost: costs.get(name),
          }
        }),
      })
    },
  }),
]

function toView(
  { level, pattern = 'annotation', applications, untilMs, reason }: PackageLevel,
  nowMs: number,
): z.output<typeof Package>['levels'][number] {
  return {
    ...{ level, from: pattern, reason },
    applications: applications && [...applications],
    until: untilMs === undefined ? undefined : new Date(untilMs).toISOString(),
    hasEnded: untilMs !== undefined && untilMs <= nowMs,
  }
}
