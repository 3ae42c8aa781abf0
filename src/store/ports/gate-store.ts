import type { Gate } from './gate.js'
import type { Delegation, GateInstance, InstanceState, NewInstance, Review } from './gate-instance.js'

/** The body of the trigger and the fetched evidence, both JSON text. */
export interface InstanceDocuments {
  readonly request: string | undefined
  readonly evidence: string | undefined
}

/** Position of an instance in a list. */
export interface InstancePosition {
  readonly id: number
  readonly expiresMs: number
}

/** Order of a list: newest first, or earliest expiry first. */
export type InstanceOrder = 'newest' | 'deadline'

/** The instances that one person may still approve. */
export interface AwaitedReview {
  readonly person: string
  /** Gates whose approvers include the person. */
  readonly gateIds: readonly number[]
  /** Those of `gateIds` that the person may approve even after triggering the instance. */
  readonly ownTriggerGateIds: readonly number[]
}

/** Filter of instances. Absent members match any instance. */
export interface InstanceFilter {
  readonly gateId?: number | undefined
  readonly application?: string | undefined
  readonly executionId?: string | undefined
  readonly state?: InstanceState | undefined
  /** Earliest creation, inclusive, in epoch milliseconds; `toMs` is exclusive. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /**
   * Part of the name of the gate, application, execution or triggering user, without case; or the
   * whole number.
   */
  readonly search?: string | undefined
  /** Only instances that wait for a person's approval. */
  readonly awaits?: AwaitedReview | undefined
  /** Only instances that expire after this time. */
  readonly expiresAfterMs?: number | undefined
}

/** Query for a page of instances. */
export interface InstanceQuery extends InstanceFilter {
  readonly order: InstanceOrder
  /** Only instances after this position. */
  readonly after?: InstancePosition | undefined
  readonly limit: number
}

/** Identifies a repeated trigger. */
export interface TriggerIdentity {
  readonly gateId: number
  readonly executionId: string
  readonly bodyDigest: string
}

/** End of an instance. */
export interface InstanceEnd {
  readonly decidedMs: number
  readonly id: number
}

export interface EndedQuery {
  readonly beforeMs: number
  readonly after: InstanceEnd | undefined
  readonly limit: number
}

/** Reads gates. */
export interface GateReader {
  /** All gates, ordered by id. */
  listGates(): Promise<readonly Gate[]>
  findGate(gateId: number): Promise<Gate | undefined>
  findInstance(instanceId: number): Promise<GateInstance | undefined>
  findDocuments(instanceId: number): Promise<InstanceDocuments>
  /** Reviews in the order of their creation. */
  reviewsOf(instanceId: number): Promise<readonly Review[]>
  listInstances(query: InstanceQuery): Promise<readonly GateInstance[]>
  countInstances(filter: InstanceFilter): Promise<number>
  /** Ids of instances with an automatic step to do, oldest first. */
  instancesWithWork(afterId: number, limit: number): Promise<readonly number[]>
  /** Delegations that end after a time, by their ends. */
  delegations(afterMs: number): Promise<readonly Delegation[]>
  /** Time of the next due notice. */
  nextNoticeMs(): Promise<number | undefined>
  /** Expiry of the open instance that expires first. */
  nextExpiryMs(): Promise<number | undefined>
  /** End of the instance that ended first. */
  oldestEndMs(): Promise<number | undefined>
}

/** Writes gates. */
export interface GateRepository extends GateReader {
  /** Inserts a gate, or replaces the gate with its id. */
  saveGate(gate: Gate): Promise<void>
  /** Highest id of all gates, 0 without any. */
  highestGateId(): Promise<number>
  addInstance(instance: NewInstance): Promise<number>
  updateInstance(instance: GateInstance): Promise<void>
  /** The latest instance with this identity. */
  findTriggered(identity: TriggerIdentity): Promise<GateInstance | undefined>
  /** The instance reserved for the trigger of an execution. */
  findReserved(gateId: number, executionId: string): Promise<GateInstance | undefined>
  /** Open instances that have expired, earliest expiry first. */
  dueInstances(nowMs: number, limit: number): Promise<readonly GateInstance[]>
  /** Open instances with a due notice, earliest first. */
  dueNotices(nowMs: number, limit: number): Promise<readonly GateInstance[]>
  /** Also removes the delegations that have ended. */
  addDelegation(delegation: Omit<Delegation, 'id'>): Promise<Delegation>
  removeDelegation(id: number): Promise<void>
  saveDocuments(instanceId: number, documents: Partial<InstanceDocuments>): Promise<void>
  addReview(instanceId: number, review: Review): Promise<void>
  /** Instances that ended before a time, after a position, in the order of their ends. */
  endedBefore(query: EndedQuery): Promise<readonly InstanceEnd[]>
  /** Removes instances with their documents and reviews. */
  removeInstances(ids: readonly number[]): Promise<void>
}
