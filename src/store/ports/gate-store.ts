import type { Gate } from './gate.js'
import type { GateInstance, InstanceState, NewInstance, Review } from './gate-instance.js'

/** What an instance was triggered with and what was fetched for it, both JSON texts. */
export interface InstanceDocuments {
  readonly request: string | undefined
  readonly evidence: string | undefined
}

/** Where an instance is in the order of a list. */
export interface InstancePosition {
  readonly id: number
  readonly expiresMs: number
}

/** How a list of instances is ordered: the newest first, or those that expire first. */
export type InstanceOrder = 'newest' | 'deadline'

/** Which instances to find; absent means any. */
export interface InstanceFilter {
  readonly gateId?: number | undefined
  readonly application?: string | undefined
  readonly executionId?: string | undefined
  readonly state?: InstanceState | undefined
  /** Begun from this time on, and before that one, in milliseconds. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** Part of the name of the gate, of the application, the execution or who triggered it, or all of the number; in any case. */
  readonly search?: string | undefined
  /** Only those that expire after this time. */
  readonly expiresAfterMs?: number | undefined
}

/** Which instances to list. */
export interface InstanceQuery extends InstanceFilter {
  readonly order: InstanceOrder
  /** Only those after this one. */
  readonly after?: InstancePosition | undefined
  readonly limit: number
}

/** An instance is recognised by these when it is triggered once more. */
export interface TriggerIdentity {
  readonly gateId: number
  readonly executionId: string
  readonly bodyDigest: string
}

/** When an instance ended, and which. */
export interface InstanceEnd {
  readonly decidedMs: number
  readonly id: number
}

export interface EndedQuery {
  readonly beforeMs: number
  readonly after: InstanceEnd | undefined
  readonly limit: number
}

/** The reading side of the gates. */
export interface GateReader {
  /** All gates in the order of their ids. */
  listGates(): Promise<readonly Gate[]>
  findGate(gateId: number): Promise<Gate | undefined>
  findInstance(instanceId: number): Promise<GateInstance | undefined>
  findDocuments(instanceId: number): Promise<InstanceDocuments>
  /** In the order in which they were made. */
  reviewsOf(instanceId: number): Promise<readonly Review[]>
  listInstances(query: InstanceQuery): Promise<readonly GateInstance[]>
  countInstances(filter: InstanceFilter): Promise<number>
  /** Instances with work to be done without a person, oldest first. */
  instancesWithWork(afterId: number, limit: number): Promise<readonly number[]>
  /** When the next open instance expires. */
  nextExpiryMs(): Promise<number | undefined>
  /** When the instance that ended first did. */
  oldestEndMs(): Promise<number | undefined>
}

/** The writing side of the gates. */
export interface GateRepository extends GateReader {
  /** Adds a gate or replaces the one of its id. */
  saveGate(gate: Gate): Promise<void>
  /** The highest id of all gates, 0 without any. */
  highestGateId(): Promise<number>
  addInstance(instance: NewInstance): Promise<number>
  updateInstance(instance: GateInstance): Promise<void>
  /** The latest instance that was triggered so. */
  findTriggered(identity: TriggerIdentity): Promise<GateInstance | undefined>
  /** The instance that waits for the trigger of an execution. */
  findReserved(gateId: number, executionId: string): Promise<GateInstance | undefined>
  /** Open instances that have expired by then, the longest expired first. */
  dueInstances(nowMs: number, limit: number): Promise<readonly GateInstance[]>
  saveDocuments(instanceId: number, documents: Partial<InstanceDocuments>): Promise<void>
  addReview(instanceId: number, review: Review): Promise<void>
  /** The instances that ended before a time, after a given one, in the order of their ends. */
  endedBefore(query: EndedQuery): Promise<readonly InstanceEnd[]>
  /** Removes instances with their documents and reviews. */
  removeInstances(ids: readonly number[]): Promise<void>
}
