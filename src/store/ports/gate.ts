/** Who may decide: token names and the groups of tokens. Both empty: everyone with the role of an approver. */
export interface Approvers {
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

/** What a stage of the orchestrator's is for, and so where it is sent. */
export type StageType = 'approval' | 'policy' | 'verification'

/** What the form of a verification stage names; absent where the definition of the application says it. */
export interface StageTemplates {
  readonly metric?: string | undefined
  readonly log?: string | undefined
}

/** A checkpoint of pipelines, as an operator declares it. */
export interface GateDefinition {
  readonly name: string
  /** Of the stage that it is for; absent for an approval, which alone has instances. */
  readonly type?: StageType | undefined
  /** What the orchestrator calls the application; the gate is found by it. */
  readonly application?: string | undefined
  /** The one pipeline that it is for; absent for all of the application. */
  readonly pipeline?: string | undefined
  /** The name of the stage that triggers it; the gate's own name where absent. */
  readonly stage?: string | undefined
  /** The types of connector whose evidence it asks for: `JIRA`. */
  readonly connectors: readonly string[]
  readonly approvers: Approvers
  /** How many different people must approve. */
  readonly approvals: number
  /** Whether the person who triggered an instance may approve it too. */
  readonly triggererMayApprove: boolean
  /** How long an instance waits for a decision. */
  readonly timeToLiveMinutes: number
  /** The policy that decides without a person where it can: a path below `data`, `release/approval`. */
  readonly policy?: string | undefined
  /** Of a verification. */
  readonly templates?: StageTemplates | undefined
}

/** Who declares a gate: the configuration, which alone may change it then, an admin over HTTP, or the form of the stage itself. */
export type GateOrigin = 'configuration' | 'api' | 'stage'

/** A gate as it is stored. */
export interface Gate extends GateDefinition {
  readonly id: number
  readonly origin: GateOrigin
  /** A gate that is not there any more keeps its instances, but takes no new ones. */
  readonly isEnabled: boolean
  /** Milliseconds since the epoch. */
  readonly createdMs: number
  readonly changedMs: number
}

/** Ids are Java ints at the orchestrator's side. */
export const MAX_ID = 2 ** 31 - 1
/** Ids of the configuration lie below, ids given to gates made over HTTP from here on: neither takes the other's. */
export const FIRST_GENERATED_GATE_ID = 1_000_000_000
