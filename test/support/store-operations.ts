import type { AnyOperation, FindOperation, Operation, Runner } from '../../src/store/ports/operation.js'
import type { StoreOperations } from '../../src/store/calls/executor.js'
import { readOperations } from '../../src/threads/read-operations.js'
import { writeOperations } from '../../src/threads/write-operations.js'

/** The operations of the service, for a store on the calling thread. */
export const SERVICE_OPERATIONS: StoreOperations = { reads: readOperations, writes: writeOperations }

/**
 * A registry of the service's operations and those that a test defines, whose names start with
 * `test.`.
 */
export function takingTestOperations<Context>(registered: FindOperation<Context>) {
  const ofTests = new Map<string, AnyOperation<Context>>()
  const find: FindOperation<Context> = (name) => ofTests.get(name) ?? registered(name)
  const taking = (runner: Runner<Context>): Runner<Context> => ({
    run<Args, Result>(operation: Operation<Context, Args, Result>, args: Args): Promise<Result> {
      if (operation.name.startsWith('test.')) ofTests.set(operation.name, operation)
      return runner.run(operation, args)
    },
  })
  return { find, taking }
}
