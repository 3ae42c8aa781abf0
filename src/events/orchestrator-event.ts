/** Which of the two operations an event came in by; each has its own required fields. */
export type EventEndpoint = 'echo' | 'audit'

/** The stage that an event tells of. */
export interface EventStage {
  readonly stageId: string | undefined
  readonly refId: string | undefined
  readonly name: string | undefined
  readonly type: string | undefined
}

/** What the orchestrator emitted, in one form whatever form it came in. */
export interface OrchestratorEvent {
  /** The sender's id, the same at both operations and in repeats. Absent only in audit data as the contract writes it. */
  readonly eventId: string | undefined
  /** `details.type` (`orca:pipeline:complete`), else `name`. */
  readonly kind: string | undefined
  /** When it happened by the sender's clock, in milliseconds since 1970; when it was received where it does not say. */
  readonly occurredAt: number
  readonly application: string | undefined
  /** The pipeline's name. */
  readonly pipeline: string | undefined
  /** The id of the pipeline's definition. */
  readonly pipelineConfigId: string | undefined
  readonly executionId: string | undefined
  readonly stage: EventStage | undefined
  readonly user: string | undefined
  /** In the orchestrator's words: `SUCCEEDED`, `TERMINAL`, `RUNNING`. */
  readonly status: string | undefined
  /** The component that emitted it: `orca`. */
  readonly source: string | undefined
  /** Whole; texts of JSON are read. */
  readonly content: unknown
  readonly details: unknown
  /** The body as it came, wrapper included, as UTF-8: secrets are still in it. */
  readonly body: Buffer
}
