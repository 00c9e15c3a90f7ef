// What TVM's C needs of its headers, and how a kernel is called.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#define TVM_DLL

typedef struct { int32_t device_type, device_id; } DLDevice;
typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
typedef struct {
  void *data; DLDevice device; int32_t ndim; DLDataType dtype;
  int64_t *shape, *strides; uint64_t byte_offset;
} DLTensor;
typedef struct {
  int32_t type_index; uint32_t zero_padding;
  union { int64_t v_int64; double v_float64; void *v_ptr; };
} TVMFFIAny;

void *TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int code, int bits);
int TVMBackendFreeWorkspace(int device_type, int device_id, void *ptr);
void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts, int32_t num_parts);

typedef int32_t Kernel(void *self, void *args, int32_t num_args, void *result);

// An array of floats, as TVM wants it to be described.
static DLTensor tensor(const float *data, int32_t ndim, const int64_t *shape) {
  DLTensor made = {(void *)data, {1, 0}, ndim, {2, 32, 1}, (int64_t *)shape, NULL, 0};
  return made;
}

// Calls a kernel with up to 4 arrays, the last of which it writes; not 0 if the kernel refuses.
static int32_t launch(Kernel *kernel, DLTensor *tensors, int32_t count) {
  TVMFFIAny args[4], result = {0, 0, {0}};
  for (int32_t k = 0; k < count; ++k) {
    args[k].type_index = 7;
    args[k].zero_padding = 0;
    args[k].v_ptr = &tensors[k];
  }
  // Here a check notes where the arrays lie.
  return kernel(NULL, args, count, &result);
}
