import type { Gate } from '../../store/ports/gate.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'
import type { WriteOperation } from '../../store/ports/transaction.js'
import { serviceActor } from './actor.js'
import { instanceEntry } from './audit-entries.js'

const MS_PER_MINUTE = 60_000

/** When the notice of an approaching end is due; undefined without one. */
function expiryNoticeMs({ reminders }: Pick<Gate, 'reminders'>, expiresMs: number): number | undefined {
  const minutes = reminders?.beforeExpiryMinutes
  return minutes === undefined ? undefined : expiresMs - minutes * MS_PER_MINUTE
}

/** When the first notice of an instance is due; undefined without any. */
export function firstNoticeMs(
  gate: Pick<Gate, 'reminders'>,
  activatedMs: number,
  expiresMs: number,
): number | undefined {
  const after = gate.reminders?.afterMinutes
  const reminder = after === undefined ? undefined : activatedMs + after * MS_PER_MINUTE
  const notice = expiryNoticeMs(gate, expiresMs)
  const times = [reminder, notice].filter((timeMs) => timeMs !== undefined && timeMs < expiresMs)
  return earliest(times.map((timeMs) => Math.max(timeMs ?? 0, activatedMs)))
}

/** Returns the kind of a due notice, and when the next one is due. Missed reminders are not repeated. */
export function dueNotice(
  gate: Pick<Gate, 'reminders'>,
  { noticeMs = 0, expiresMs }: Pick<GateInstance, 'noticeMs' | 'expiresMs'>,
  nowMs: number,
): { readonly kind: 'gate.reminded' | 'gate.expiring'; readonly nextMs: number | undefined } {
  const every = gate.reminders?.everyMinutes
  const notice = expiryNoticeMs(gate, expiresMs)
  const reminder = every === undefined ? undefined : nowMs + every * MS_PER_MINUTE
  const isExpiring = notice !== undefined && notice <= Math.max(noticeMs, nowMs)
  const times = isExpiring ? [] : [reminder, notice]
  return {
    kind: isExpiring ? 'gate.expiring' : 'gate.reminded',
    nextMs: earliest(times.filter((timeMs) => timeMs !== undefined && timeMs < expiresMs)),
  }
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((timeMs) => timeMs !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** Records due reminders, at most `limit`. Returns their number. */
export const remindOfInstances: WriteOperation<{ readonly nowMs: number; readonly limit: number }, number> = {
  name: 'gates.remind',
  isBackground: true,
  apply: async ({ gates, audit }, { nowMs, limit }) => {
    const due = await gates.dueNotices(nowMs, limit)
    for (const instance of due) {
      const gate = await gates.findGate(instance.gateId)
      const isWaiting = instance.state === 'activated' && nowMs < instance.expiresMs
      const { kind, nextMs } = dueNotice(gate ?? {}, instance, nowMs)
      const next = isWaiting ? nextMs : undefined
      await gates.updateInstance({ ...instance, noticeMs: next })
      const facts = { expiresAt: new Date(instance.expiresMs).toISOString() }
      if (isWaiting) await audit.append(instanceEntry(kind, instance, serviceActor(nowMs), facts))
    }
    return due.length
  },
}
