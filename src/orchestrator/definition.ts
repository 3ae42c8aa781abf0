/** An application or a pipeline as the orchestrator stores it (contract 2.4): unknown members are kept. */
export type Definition = Readonly<Record<string, unknown>>
