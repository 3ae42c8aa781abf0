import type { MonthlyTable } from '../months/monthly-table.js'

/** The trail. A month's table refuses to be emptied by itself; what else the trail refuses holds for its months by itself. */
export const TRAIL: MonthlyTable = {
  name: 'audit',
  furnish: (month) => `create trigger ${month}_is_never_emptied before truncate on ${month}
    for each statement execute function audit_refuse_change();`,
}
