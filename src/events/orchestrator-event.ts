/** The two operations for events, which have different required fields. */
export type EventEndpoint = 'echo' | 'audit'

/** Stage of an event. */
export interface EventStage {
  readonly stageId: string | undefined
  readonly refId: string | undefined
  readonly name: string | undefined
  readonly type: string | undefined
}

/** An event of the orchestrator, normalized. */
export interface OrchestratorEvent {
  /**
   * The sender's id, the same in both operations and in repeats. Absent only in audit data of the
   * contract.
   */
  readonly eventId: string | undefined
  /** `details.type` (`orca:pipeline:complete`), else `name`. */
  readonly kind: string | undefined
  /** Time by the sender's clock, in epoch milliseconds; the time of receipt if absent. */
  readonly occurredAt: number
  readonly application: string | undefined
  /** Name of the pipeline. */
  readonly pipeline: string | undefined
  /** Id of the pipeline's definition. */
  readonly pipelineConfigId: string | undefined
  readonly executionId: string | undefined
  readonly stage: EventStage | undefined
  readonly user: string | undefined
  /** Status of the orchestrator, such as `SUCCEEDED`, `TERMINAL` or `RUNNING`. */
  readonly status: string | undefined
  /** Component that sent it, such as `orca`. */
  readonly source: string | undefined
  /** The complete content. JSON texts are parsed. */
  readonly content: unknown
  readonly details: unknown
  /** The received body in UTF-8 with its wrapper. Still contains secrets. */
  readonly body: Buffer
}
