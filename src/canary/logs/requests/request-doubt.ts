/** What is wrong with the requests of a canary. */
export interface RequestDoubt {
  readonly sentence: string
  /** Whether it fails the run; else it asks people. */
  readonly fails: boolean
}
