import { AppError, toAppError } from '../../errors/app-error.js'
import { isSuspended } from '../../lib/work-attempts.js'
import type { WorkAttempts } from '../../lib/work-attempts.js'
import type { GateReader } from '../../store/ports/gate-store.js'
import { whileLeased } from '../../store/ports/leases.js'
import type { Leases } from '../../store/ports/leases.js'
import type { Writer } from '../../store/ports/transaction.js'
import type { ConnectorRequest, Evidence } from '../connectors/tool/connectors.js'
import { decideByPolicy } from './decide-by-policy.js'
import type { PolicyReasons } from '../instances/transition.js'
import { requireGate } from '../instances/find-or-raise.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'
import { keepEvidence } from './keep-evidence.js'
import { parseConnectorParameters } from '../connectors/tool/parse-connector-parameters.js'
import { policyInput, whyUndecidable } from './evidence.js'
import type { PolicyRequest } from './evidence.js'

export interface GateWorkDeps {
  readonly writer: Writer
  readonly gates: GateReader
  /** Never rejects: a failure is failed evidence. */
  readonly fetchEvidence: (
    requests: readonly ConnectorRequest[],
    signal: AbortSignal,
  ) => Promise<readonly Evidence[]>
  /** Evaluates a policy. Raises if it cannot be evaluated. */
  readonly evaluatePolicy: (policy: string, input: object, nowMs: number) => Promise<PolicyReasons>
  readonly attempts: WorkAttempts
  readonly leases: Leases
  readonly now: () => number
  /** Number of concurrent instances. */
  readonly concurrency: number
  /** Called when an instance may have been closed. */
  readonly closed: () => void
  readonly failed: (error: AppError, instanceId: number) => void
}

const SCAN_LIMIT = 1000
/** Kind of this work, shown when it is suspended. */
export const GATE_WORK = 'gate-instance'

/**
 * Does the automatic steps of instances: fetches evidence, then evaluates the gate's policy.
 * Pending steps are in the store, so they survive a restart.
 */
export class GateWork {
  readonly #deps: GateWorkDeps
  readonly #waiting = new Set<number>()
  readonly #running = new Map<number, Promise<void>>()
  readonly #stopping = new AbortController()

  constructor(deps: GateWorkDeps) {
    this.#deps = deps
  }

  /** Looks for pending work: at the start, and from time to time for failed work. */
  async rescan(): Promise<void> {
    let last = 0
    for (;;) {
      const ids = await this.#deps.gates.instancesWithWork(last, SCAN_LIMIT)
      for (const id of ids) this.add(id)
      const end = ids.at(-1)
      if (end === undefined || ids.length < SCAN_LIMIT) return
      last = end
    }
  }

  /** Schedules the work of an instance. */
  add(instanceId: number): void {
    if (this.#running.has(instanceId)) return
    this.#waiting.add(instanceId)
    this.#startNext()
  }

  /** Resolves when nothing is running or waiting. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  /** Aborts running work. The next start begins it again. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.idle()
  }

  #startNext(): void {
    for (const id of this.#waiting) {
      if (this.#isStopped() || this.#running.size >= this.#deps.concurrency) return
      this.#waiting.delete(id)
      this.#running.set(id, this.#work(id))
    }
  }

  async #work(instanceId: number): Promise<void> {
    try {
      // If another process holds the lease, the next scan tries again.
      await whileLeased(this.#deps.leases, GATE_WORK, String(instanceId), async (lost) => {
        while (!this.#isStopped() && !lost.aborted && (await this.#step(instanceId)));
      })
    } catch (raw) {
      this.#deps.failed(toAppError(raw), instanceId)
    } finally {
      this.#running.delete(instanceId)
      this.#startNext()
    }
  }

  #isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  /** Runs one step. Returns false if there is none. */
  async #step(instanceId: number): Promise<boolean> {
    const instance = await this.#deps.gates.findInstance(instanceId)
    if (instance?.work === undefined) return false
    const { work } = instance
    try {
      await this.#deps.attempts.run({ kind: GATE_WORK, key: String(instanceId) }, () =>
        work === 'evidence' ? this.#fetch(instance) : this.#decide(instance),
      )
    } catch (error) {
      if (!isSuspended(error)) throw error
      await this.#leaveToPeople(instance, error.message)
    }
    return true
  }

  /** Leaves an instance to people with the reason, because its work crashed the process. */
  async #leaveToPeople({ id: instanceId, gateId }: GateInstance, problem: string): Promise<void> {
    const { writer, gates, now } = this.#deps
    const { evidence: kept } = await gates.findDocuments(instanceId)
    const evidence = kept ?? JSON.stringify([unusable(problem, now())])
    await writer.run(keepEvidence, { instanceId, evidence, outcomes: [problem], nowMs: now() })
    const { policy = '' } = await requireGate(gates, gateId)
    await writer.run(decideByPolicy, { instanceId, policy, reasons: undefined, problem, nowMs: now() })
  }

  async #fetch({ id: instanceId }: GateInstance): Promise<void> {
    const { writer, fetchEvidence, now } = this.#deps
    const { toolConnectorParameters, connectorType } = await this.#trigger(instanceId)
    const { requests, problems } = parseConnectorParameters(toolConnectorParameters, connectorType)
    const found = await fetchEvidence(requests, this.#stopping.signal)
    // Aborted requests are no failure of the connector.
    if (this.#isStopped()) return
    const fetched = [...found, ...problems.map((error) => unusable(error, now()))]
    const outcomes = fetched.map(({ connectorType: type, state }) => `${type} ${state}`)
    await writer.run(keepEvidence, { instanceId, evidence: JSON.stringify(fetched), outcomes, nowMs: now() })
  }

  async #decide(instance: GateInstance): Promise<void> {
    const { writer, gates, now, closed } = this.#deps
    const gate = await requireGate(gates, instance.gateId)
    const { evidence = '[]' } = await gates.findDocuments(instance.id)
    const request: PolicyRequest = {
      gate,
      instance,
      trigger: await this.#trigger(instance.id),
      evidence: JSON.parse(evidence) as readonly Evidence[],
    }
    const policy = gate.policy ?? ''
    const nowMs = now()
    const answer = await this.#evaluate(policy, request, nowMs)
    await writer.run(decideByPolicy, { instanceId: instance.id, policy, ...answer, nowMs })
    closed()
  }

  async #evaluate(
    policy: string,
    request: PolicyRequest,
    nowMs: number,
  ): Promise<{ readonly reasons: PolicyReasons | undefined; readonly problem: string | undefined }> {
    const problem = policy === '' ? 'the gate no longer has a policy' : whyUndecidable(request)
    if (problem !== undefined) return { reasons: undefined, problem }
    try {
      const reasons = await this.#deps.evaluatePolicy(policy, policyInput(request), nowMs)
      return { reasons, problem: undefined }
    } catch (raw) {
      return { reasons: undefined, problem: toAppError(raw).message }
    }
  }

  async #trigger(instanceId: number): Promise<Readonly<Record<string, unknown>>> {
    const { request } = await this.#deps.gates.findDocuments(instanceId)
    if (request !== undefined) return JSON.parse(request) as Record<string, unknown>
    throw new AppError('internal', `instance ${instanceId} has no stored trigger`)
  }
}

/** Makes failed evidence for a part of the trigger that no connector can use. */
function unusable(error: string, fetchedAt: number): Evidence {
  return { connectorType: 'UNKNOWN', account: null, state: 'failed', fetchedAt, output: [], error }
}
