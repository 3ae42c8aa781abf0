/**
 * An application or pipeline as the orchestrator stores it (contract 2.4), unknown members
 * included.
 */
export type Definition = Readonly<Record<string, unknown>>
