/** What evaluations took, as plain data. */
export interface CostFigures {
  /** Loop iterations, calls of functions, and the work of built-ins in their measure: what `policies.limits.loopIterations` bounds. */
  readonly fuel: number
  /** How often memory had to be set up anew, with all base documents. */
  readonly instancesReplaced: number
  /** The names of packages, `data.a.b`, and the fuel of each, in turn with them. */
  readonly packages: readonly string[]
  readonly packageFuel: readonly number[]
}

/** Takes down what the evaluations of one question take. */
export class EvaluationCost implements CostFigures {
  fuel = 0
  instancesReplaced = 0
  readonly packages: string[] = []
  readonly packageFuel: number[] = []
  /** Of what was evaluated last, one after the other. */
  readonly targetFuel: number[] = []

  /** Begins anew. */
  clear(): void {
    this.fuel = 0
    this.instancesReplaced = 0
    this.packages.length = 0
    this.packageFuel.length = 0
    this.targetFuel.length = 0
  }

  /** The figures alone, for another thread. */
  get figures(): CostFigures {
    const { fuel, instancesReplaced, packages, packageFuel } = this
    return { fuel, instancesReplaced, packages, packageFuel }
  }

  /** Says in which packages stands what was evaluated last, one after the other. */
  attribute(packageNames: readonly string[]): void {
    for (const [place, name] of packageNames.entries()) this.#add(name, this.targetFuel[place] ?? 0)
    this.targetFuel.length = 0
  }

  #add(name: string, fuel: number): void {
    this.fuel += fuel
    // Rules of a package stand together.
    const last = this.packages.length - 1
    if (this.packages[last] === name) this.packageFuel[last] = (this.packageFuel[last] ?? 0) + fuel
    else {
      this.packages.push(name)
      this.packageFuel.push(fuel)
    }
  }
}
