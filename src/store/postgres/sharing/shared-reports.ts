import { MAX_REPORTS, REPORT_KEPT_MS } from '../../ports/instance-reports.js'
import type { InstanceReport, InstanceReports } from '../../ports/instance-reports.js'
import { requireWritable } from '../engine/migrate.js'
import { naming } from '../engine/postgres-error.js'
import type { Queries } from '../engine/session.js'
import { all, run } from '../engine/statements.js'
import { serviceSchema } from '../migrations/service.js'

type ReportRow = Omit<InstanceReport, 'reportedBy'> & { readonly reportedBy: string | null } & Record<
    string,
    unknown
  >

/** The reports of all services that share a database, and of the instances that report to any of them. */
export function sharedReports(queries: Queries): InstanceReports {
  return {
    put: ({ id, status, reportedBy }) =>
      naming('store a status', async () => {
        await requireWritable(queries, serviceSchema)
        await run(
          queries,
          `insert into instance_reports (id, status, reported_by, reported) values ($1, $2, $3, clock_timestamp())
           on conflict (id) do update set status = $2, reported_by = $3, reported = clock_timestamp()`,
          [id, status, reportedBy ?? null],
        )
        await run(
          queries,
          `delete from instance_reports where reported < clock_timestamp() - interval '${REPORT_KEPT_MS} milliseconds'
           or id in (select id from instance_reports order by reported desc offset ${MAX_REPORTS})`,
        )
      }),
    list: () =>
      naming('read the fleet', async () => {
        const rows = await all<ReportRow>(
          queries,
          `select id, status, reported_by as "reportedBy", floor(extract(epoch from reported) * 1000)::float8 as "reportedMs"
           from instance_reports where reported >= clock_timestamp() - interval '${REPORT_KEPT_MS} milliseconds' order by id`,
        )
        return rows.map((row) => ({ ...row, reportedBy: row.reportedBy ?? undefined }))
      }),
  }
}
