import { describe, expect, it } from 'vitest'
import { z } from 'zod'

import { openApiDocument } from '../../../src/http/openapi/openapi-document.js'
import { routeLists } from '../../../src/http/route-lists.js'
import { openApiOperations } from '../../support/openapi/operations.js'
import type { DescribedOperation } from '../../support/openapi/operations.js'

/** Routes defined by other programs, whose names cannot be changed. */
const OF_OTHERS = /^\/(?:oes|platformservice|visibilityservice|dashboardservice|autopilot|auditservice|ui)\b/
/** Lists without pages, and why they are bounded. */
const WHOLE: Readonly<Record<string, string>> = {
  '/approvalGates': 'what people have declared',
  '/analysis/applications': 'what people have declared',
  '/analysis/applications/{application}/feedback': 'one row for each metric of a definition',
  '/v1/policies': 'as in OPA; what a service holds in memory',
  '/backgroundWork': 'what ended the service twice',
  '/insights/delivery': 'figures, one row for each application',
  '/executions/{id}/timeline': 'one execution; `isTruncated` says that there is more',
  '/policies/impact': 'the latest comparisons, which the service keeps in memory',
  '/policies/sources': 'what is configured',
  '/policies/revisions': 'what is stored, within `decisions.maxSourcesBytes`',
  '/policies/revisions/diff': 'the files of two stored revisions',
  '/fleet': 'one row for each instance, at most 5,000',
  '/notifications': 'what is configured',
  '/sessions': 'at most ten of each person',
  '/delegations': 'what people have given, at most 20 each',
  '/policies/packages': 'what is loaded',
  '/decisions/{decisionId}/why': 'one decision',
  '/audit/verify': 'what is wrong, at most fifty sentences',
}
/** Names in other programs' lists that differ from this service's. */
const OTHER_WORDS = [
  ...['next', 'nextPage', 'page', 'pageSize', 'offset', 'size', 'count', 'after', 'before'],
  ...['from', 'to', 'start', 'end', 'execution', 'app'],
]

const Content = z.looseObject({
  content: z.looseObject({ 'application/json': z.looseObject({ schema: z.looseObject({}).optional() }) }),
})
const Members = z.looseObject({
  properties: z.record(z.string(), z.looseObject({ deprecated: z.boolean().optional() })),
})
const Parameter = z.looseObject({
  name: z.string(),
  in: z.string(),
  deprecated: z.boolean().optional(),
  description: z.string().optional(),
  schema: z.looseObject({}),
})

const document = openApiDocument(routeLists({ eventsAtRoot: false }), { version: '1.2.3' })
const own = openApiOperations(document).filter(
  ({ method, path }) => method === 'GET' && !OF_OTHERS.test(path),
)
const lists = own.filter((operation) => arraysOf(operation).length > 0 && !isOneThing(operation.path))
const paged = lists.filter(({ path }) => !(path in WHOLE))

function membersOf({ operation }: DescribedOperation): z.output<typeof Members>['properties'] {
  const content = Content.safeParse(operation.responses['200'])
  const schema = content.success ? content.data.content['application/json'].schema : undefined
  const members = Members.safeParse(schema)
  return members.success ? members.data.properties : {}
}

function arraysOf(operation: DescribedOperation): string[] {
  return Object.entries(membersOf(operation)).flatMap(([name, schema]) =>
    schema['type'] === 'array' ? [name] : [],
  )
}

/** Details of one resource may contain lists. */
function isOneThing(path: string): boolean {
  return (
    path.endsWith('}') ||
    path.endsWith('/fromPlugin') ||
    path.includes('/intervals/') ||
    path.includes('/looks/')
  )
}

function queryOf({ operation }: DescribedOperation) {
  return operation.parameters.map((each) => Parameter.parse(each)).filter((each) => each.in === 'query')
}

describe('the lists of the API', () => {
  it('are found, and what is answered whole is one of them', () => {
    const paths = lists.map(({ path }) => path)
    expect(paths).toEqual(expect.arrayContaining(['/decisions', '/analysis', '/pipelines/{id}/history']))
    expect(paths).toEqual(expect.arrayContaining(Object.keys(WHOLE)))
    expect(paged.length).toBeGreaterThan(6)
  })

  it.each(paged.map((each) => [each.path, each] as const))('%s goes on by nextCursor', (_, operation) => {
    expect(arraysOf(operation)).toHaveLength(1)
    const query = queryOf(operation)
    const limit = query.find(({ name }) => name === 'limit')
    expect(limit).toMatchObject({
      description: 'Maximum entries of the page.',
      schema: { type: 'integer', minimum: 1 },
    })
    expect(query.find(({ name }) => name === 'cursor')?.description).toBe(
      '`nextCursor` of the previous page.',
    )
    const { nextCursor, next } = membersOf(operation)
    expect(nextCursor).toMatchObject({ type: 'string' })
    if (next !== undefined) expect(next).toMatchObject({ deprecated: true })
  })

  it.each(own.map((each) => [each.path, each] as const))(
    '%s uses the words of the others',
    (_, operation) => {
      const query = queryOf(operation)
      const current = query.filter(({ deprecated }) => deprecated !== true).map(({ name }) => name)
      expect(current.filter((name) => OTHER_WORDS.includes(name))).toEqual([])
      expect(current.includes('since')).toBe(current.includes('until'))
      expect(current.includes('limit')).toBe(current.includes('cursor'))
      for (const { description, deprecated } of query)
        if (deprecated === true) expect(description).toMatch(/Former name/)
    },
  )
})
