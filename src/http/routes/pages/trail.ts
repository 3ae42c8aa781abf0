import { z } from 'zod'

import { toRecordView } from '../../../audit/record-view.js'
import type { RecordView } from '../../../audit/record-view.js'
import { searchTrail } from '../../../audit/search-trail.js'
import { verifyTrail } from '../../../audit/verify-trail.js'
import { AppError } from '../../../errors/app-error.js'
import { EXPORT_FORMATS } from '../../../store/ports/audit-export.js'
import { AUDIT_SOURCES } from '../../../store/ports/audit-store.js'
import type { AuditFilter } from '../../../store/ports/audit-store.js'
import { formBody } from '../../input/form-body.js'
import { numberOf } from '../../input/path-parameter.js'
import { PERIOD_VALUES, startOf } from '../../pages/lists.js'
import { recordPage, trailPage, verificationPage } from '../../pages/trail-pages.js'
import type { Facet, TrailPageFilter } from '../../pages/trail-pages.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { answerExport } from '../trail/audit.js'
import { FORM, PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'

const MAX_LISTED = 50
/** Records in the facets. */
const MAX_SAMPLED = 300
const MAX_VALUES = 10
const MAX_TEXT = 1000
const FACETS = ['source', 'kind', 'application', 'user'] as const
const Text = z.string().trim().max(MAX_TEXT).default('')
const Filter = {
  source: z.enum([...AUDIT_SOURCES, '']).default(''),
  kind: Text,
  application: Text,
  executionId: Text,
  user: Text,
  period: z.enum(PERIOD_VALUES).default(''),
}
const VIEW = { ...PAGE, method: 'GET', roles: ['auditor'] } as const
const { route } = routesOf<PageRoutesDeps>()

/** Pages of the audit trail. */
export const trailPageRoutes = [
  route({
    ...VIEW,
    path: '/ui/trail',
    summary: 'The audit trail with filters, as a page',
    query: z.looseObject({ ...Filter, q: Text, cursor: z.string().optional() }),
    answer: async ({ exchange, query: { cursor, q, ...given } }, deps) => {
      const { caughtUp, reader } = deps.audit
      if (q !== '') await caughtUp()
      const search = { filter: toFilter(given, deps), text: q === '' ? undefined : q }
      const page = await searchTrail(reader, { ...search, limit: MAX_LISTED, cursor })
      const { records } = await searchTrail(reader, { ...search, limit: MAX_SAMPLED })
      const { source, kind, application, executionId, user, period } = given
      const shown = {
        filter: { q, source, kind, application, executionId, user, period },
        ...{ page, cursor, facets: facetsOf(records), sampled: records.length },
      }
      return showPage(trailPage(shown, viewerOf(exchange, deps)), exchange, deps)
    },
  }),
  route({
    ...VIEW,
    path: '/ui/trail/export',
    summary: 'All matching records for a signed-in auditor, oldest first',
    query: z.looseObject({ ...Filter, format: z.enum(EXPORT_FORMATS).default('ndjson') }),
    answers: {
      ...PAGE.answers,
      200: { description: 'One record per line, or CSV.', types: ['application/x-ndjson', 'text/csv'] },
    },
    answer: async ({ exchange, query: { format, ...given } }, deps) => {
      const query = { filter: toFilter(given, deps), format, withBodies: false }
      const answer = await answerExport(exchange, query, deps.audit)
      answer.headers.set('Content-Disposition', `attachment; filename="trail.${format}"`)
      return answer
    },
  }),
  route({
    ...FORM,
    path: '/ui/trail/verify',
    roles: ['auditor'],
    summary: 'Verify the chain of the trail, from the form of its page',
    body: formBody(z.object({})),
    answers: PAGE.answers,
    answer: async ({ exchange }, deps) => {
      const result = await verifyTrail(deps.audit)
      return showPage(verificationPage(result, viewerOf(exchange, deps)), exchange, deps)
    },
  }),
  route({
    ...VIEW,
    path: '/ui/trail/:seq',
    summary: 'One record of the trail, as a page',
    params: { seq: numberOf('audit record') },
    answer: async ({ exchange, params: { seq } }, deps) => {
      const record = await deps.audit.lookups.find(seq)
      if (record === undefined) throw new AppError('not_found', `audit record ${seq} not found`)
      const body = Buffer.from(record.body).toString()
      return showPage(recordPage(toRecordView(record), body, viewerOf(exchange, deps)), exchange, deps)
    },
  }),
]

/** Returns the non-empty members as a filter of the store. */
function toFilter(
  { source, kind, application, executionId, user, period }: Omit<TrailPageFilter, 'q'>,
  { gates }: PageRoutesDeps,
): AuditFilter {
  const columns = Object.entries({ source, kind, application, executionId, user })
  return {
    ...Object.fromEntries(columns.filter(([, value]) => value !== '')),
    fromMs: startOf(period, gates.now()),
  }
}

function facetsOf(records: readonly RecordView[]): readonly Facet[] {
  return FACETS.map((name) => {
    const counts = new Map<string, number>()
    for (const { [name]: value } of records) {
      if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1)
    }
    const values = [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count)
    return { name, values: values.slice(0, MAX_VALUES) }
  })
}
