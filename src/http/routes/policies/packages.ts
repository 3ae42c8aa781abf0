import { z } from 'zod'

import type { ExceptionBook } from '../../../enforcement/exceptions/exception-book.js'
import { levelFor } from '../../../enforcement/levels.js'
import type { Levels, PackageLevel } from '../../../enforcement/levels.js'
import { Subject } from '../../../enforcement/about/subject.js'
import {
  LEVELS,
  hasWarnRule,
  pathOfKey,
  printPackageName,
  questionOf,
  type Snapshot,
} from '../../../rego/index.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { Time, json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'

export interface PackageRoutesDeps {
  readonly policies: { readonly current: Snapshot }
  readonly enforcement: { readonly levels: Levels }
  readonly exceptions: Pick<ExceptionBook, 'all'>
  readonly now: () => number
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
})

const { route } = routesOf<PackageRoutesDeps>()

/** `GET /policies/packages`: how the packages with verdicts or warnings count. */
export const packageRoutes = [
  route({
    method: 'GET',
    path: '/policies/packages',
    roles: ['auditor', 'approver', 'author'],
    handler: 'policies',
    summary: 'Packages with their levels and exceptions',
    answers: { 200: json('The packages by name.', z.object({ packages: z.array(Package) })) },
    answer: (_, { policies, enforcement: { levels }, exceptions, now }) => {
      const [snapshot, nowMs] = [policies.current, now()]
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
