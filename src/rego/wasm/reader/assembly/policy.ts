/** Exports of the policy module. They allocate at its heap pointer. */
export declare function opa_heap_ptr_set(address: usize): void
export declare function opa_json_parse(address: usize, length: usize): usize
