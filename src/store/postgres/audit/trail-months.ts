import type { MonthlyTable } from '../months/monthly-table.js'

/**
 * The monthly table of the trail. Only the trigger against `truncate` must be created for each
 * month: partitions inherit the others.
 */
export const TRAIL: MonthlyTable = {
  name: 'audit',
  extraSql: (month) => `create trigger ${month}_is_never_emptied before truncate on ${month}
    for each statement execute function audit_refuse_change();`,
}
