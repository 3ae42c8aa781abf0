/**
 * Token names and groups that may decide. If both are empty, everyone with the role `approver` may.
 */
export interface Approvers {
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

/** Type of an orchestrator stage. It determines where the stage's request goes. */
export type StageType = 'approval' | 'policy' | 'verification'

/**
 * Templates named in the form of a verification stage. Absent if the application's definition names
 * them.
 */
export interface StageTemplates {
  readonly metric?: string | undefined
  readonly log?: string | undefined
}

/** Reminders of an undecided instance. Absent members send none. */
export interface Reminders {
  /** Time from the trigger to the first reminder. */
  readonly afterMinutes?: number | undefined
  /** Time between two reminders. */
  readonly everyMinutes?: number | undefined
  /** Time from the notice of the approaching end to the end. */
  readonly beforeExpiryMinutes?: number | undefined
}

/** A gate as an operator declares it. */
export interface GateDefinition {
  readonly name: string
  /** Type of the gate's stage; absent for an approval. Only approvals have instances. */
  readonly type?: StageType | undefined
  /** Application name in the orchestrator. */
  readonly application?: string | undefined
  /** The gate's pipeline; absent for all pipelines of the application. */
  readonly pipeline?: string | undefined
  /** Name of the stage that triggers the gate; the gate's name if absent. */
  readonly stage?: string | undefined
  /** Connector types whose evidence the gate requires: `JIRA`. */
  readonly connectors: readonly string[]
  readonly approvers: Approvers
  /** Number of different people who must approve. */
  readonly approvals: number
  /** Whether the user who triggered an instance may approve it. */
  readonly triggererMayApprove: boolean
  /** Whether approving and rejecting need a comment; absent for gates of earlier versions. */
  readonly commentRequired?: boolean | undefined
  /**
   * Whether one approver of each group in `approvers` must approve. A person counts for one group.
   */
  readonly eachGroup?: boolean | undefined
  /** False if committers of the deployed change may not approve; absent for true. */
  readonly committersMayApprove?: boolean | undefined
  /** When people are reminded of an undecided instance; absent for never. */
  readonly reminders?: Reminders | undefined
  /** Time until an undecided instance expires. */
  readonly timeToLiveMinutes: number
  /**
   * Policy that decides without a person if it can: a path below `data`, such as
   * `release/approval`.
   */
  readonly policy?: string | undefined
  /** Only for a verification. */
  readonly templates?: StageTemplates | undefined
}

/**
 * Where a gate is declared: in the configuration (and only changed there), over HTTP, or in the
 * form of its stage.
 */
export type GateOrigin = 'configuration' | 'api' | 'stage'

/** A stored gate. */
export interface Gate extends GateDefinition {
  readonly id: number
  readonly origin: GateOrigin
  /** False for a removed gate: it keeps its instances but accepts no new ones. */
  readonly isEnabled: boolean
  /** Epoch milliseconds. */
  readonly createdMs: number
  readonly changedMs: number
}

/** Highest id: the orchestrator stores ids as Java ints. */
export const MAX_ID = 2 ** 31 - 1
/**
 * First id of gates made over HTTP. Ids of the configuration are lower, so the two never collide.
 */
export const FIRST_GENERATED_GATE_ID = 1_000_000_000
