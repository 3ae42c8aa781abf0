import type { Generated } from 'kysely'
import type { NewException, PolicyException } from '../ports/exception-store.js'

/** The table of exceptions, as Kysely sees it. */
export interface ExceptionTable {
  id: Generated<number>
  package: string
  application: string | null
  pipeline: string | null
  reason: string
  owner: string
  created_ms: number
  until_ms: number
  needs_approval: number
  approver: string | null
  approved_ms: number | null
  noticed_ms: number | null
}

type ExceptionRow = Omit<ExceptionTable, 'id'> & { readonly id: number }

export function toException(row: ExceptionRow): PolicyException {
  return {
    id: row.id,
    package: row.package,
    application: row.application ?? undefined,
    pipeline: row.pipeline ?? undefined,
    reason: row.reason,
    owner: row.owner,
    createdMs: row.created_ms,
    untilMs: row.until_ms,
    needsApproval: row.needs_approval !== 0,
    approver: row.approver ?? undefined,
    approvedMs: row.approved_ms ?? undefined,
    noticedMs: row.noticed_ms ?? undefined,
  }
}

export function fromException(exception: NewException & Partial<PolicyException>): Omit<ExceptionRow, 'id'> {
  return {
    package: exception.package,
    application: exception.application ?? null,
    pipeline: exception.pipeline ?? null,
    reason: exception.reason,
    owner: exception.owner,
    created_ms: exception.createdMs,
    until_ms: exception.untilMs,
    needs_approval: exception.needsApproval ? 1 : 0,
    approver: exception.approver ?? null,
    approved_ms: exception.approvedMs ?? null,
    noticed_ms: exception.noticedMs ?? null,
  }
}
