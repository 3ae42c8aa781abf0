/** The cost of evaluations, as plain data. */
export interface CostMeasurements {
  /**
   * Loop iterations, function calls and the equivalent work of built-ins, which
   * `policies.limits.loopIterations` limits.
   */
  readonly fuel: number
  /** Number of times that memory was set up again with all base documents. */
  readonly instancesReplaced: number
  /** Names of packages, `data.a.b`; `packageFuel` has the fuel of each. */
  readonly packages: readonly string[]
  readonly packageFuel: readonly number[]
}

/** Measures the cost of the evaluations of one question. */
export class EvaluationCost implements CostMeasurements {
  fuel = 0
  instancesReplaced = 0
  readonly packages: string[] = []
  readonly packageFuel: number[] = []
  /** The latest measurements, in order. */
  readonly targetFuel: number[] = []

  /** Resets the measurements. */
  clear(): void {
    this.fuel = 0
    this.instancesReplaced = 0
    this.packages.length = 0
    this.packageFuel.length = 0
    this.targetFuel.length = 0
  }

  /** Returns the measurements as plain data for another thread. */
  get measurements(): CostMeasurements {
    const { fuel, instancesReplaced, packages, packageFuel } = this
    return { fuel, instancesReplaced, packages, packageFuel }
  }

  /** Assigns the latest measurements to packages, in order. */
  attribute(packageNames: readonly string[]): void {
    for (const [place, name] of packageNames.entries()) this.#add(name, this.targetFuel[place] ?? 0)
    this.targetFuel.length = 0
  }

  #add(name: string, fuel: number): void {
    this.fuel += fuel
    // Rules of a package are adjacent.
    const last = this.packages.length - 1
    if (this.packages[last] === name) this.packageFuel[last] = (this.packageFuel[last] ?? 0) + fuel
    else {
      this.packages.push(name)
      this.packageFuel.push(fuel)
    }
  }
}
