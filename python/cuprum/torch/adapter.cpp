// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// PyTorch's operators for CUDA tensors, run by its CPU kernels.
//
// PyTorch's own CUDA kernels are machine code. Memory of the emulated device is memory of this
// process, so an operator's CPU kernel can work on it in place. activate() replaces the CUDA kernel
// of every operator in PyTorch's dispatcher. A call then takes these steps:
//
//   1. wait for the current stream, which orders the operator after kernels and copies in flight;
//   2. lend each CUDA tensor: make a CPU tensor on the same memory (Loan::lower);
//   3. run the CPU kernel; what it allocates comes from PyTorch's caching allocator (Memory);
//   4. return the lent tensors, and hand over new memory to CUDA tensors (Loan::lift).
//
// Nothing is copied. The operator is done when it returns, so later work on any stream sees it.
//
// cuprum.torch compiles this file against the headers in PyTorch's wheel: the binary interface of
// the dispatcher differs between versions. CUDA's headers are not needed.

#include <dlfcn.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/NestedTensorImpl.h>
#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseTensorImpl.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/ops/_nested_view_from_buffer.h>
#include <ATen/ops/_sparse_compressed_tensor_unsafe.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_and_tensors.h>
#include <ATen/ops/copy_native.h>
#include <array>
#include <c10/core/Allocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <torch/library.h>
#include <tuple>
#include <utility>
#include <vector>

// From libraries that PyTorch has loaded.
extern "C" int cudaStreamSynchronize(void* stream);
extern "C" int cudaStreamIsCapturing(void* stream, int* status);
extern "C" int cudaPointerGetAttributes(void* attributes, const void* address);
extern "C" int32_t aoti_torch_get_current_cuda_stream(int32_t device, void** stream);

namespace {

using c10::DispatchKey;
using torch::jit::Stack;

constexpr std::string_view NAMESPACE = "aten::";

// PyTorch rounds the offset of a CUDA generator to a multiple of this.
constexpr uint64_t OFFSET_STEP = 4;

// ---- memory ------------------------------------------------------------------------------------

thread_local bool is_in_operator = false;

c10::Allocator* device_allocator() {
    return at::detail::getCUDAHooks().getCUDADeviceAllocator();
}

/// Returns the same memory, described as memory of another device.
at::DataPtr move_to(at::DataPtr memory, c10::Device device) {
    void* const address = memory.get();
    const c10::DeleterFnPtr release = memory.get_deleter();
    return {address, memory.release_context(), release, device};
}

/// Returns whether an address belongs to a device.
bool is_device_memory(const void* address) {
    constexpr int DEVICE = 2;               // cudaMemoryTypeDevice
    alignas(8) std::array<int, 64> facts{}; // larger than cudaPointerAttributes; its type is first
    return cudaPointerGetAttributes(facts.data(), address) == 0 && facts[0] == DEVICE;
}

void release(void* address);

/// PyTorch's allocator of host memory. Gives device memory to operators of CUDA tensors.
class Memory final : public c10::Allocator {
public:
    explicit Memory(c10::Allocator* host) : host_(host) {}

    at::DataPtr allocate(size_t bytes) override {
        return is_in_operator && bytes > 0 ? move_to(device_allocator()->allocate(bytes), c10::kCPU)
                                           : host_->allocate(bytes);
    }

    bool is_simple_data_ptr(const at::DataPtr& memory) const override {
        return host_->is_simple_data_ptr(memory);
    }

    c10::DeleterFnPtr raw_deleter() const override { return release; }

    void copy_data(void* to, const void* from, size_t bytes) const override {
        host_->copy_data(to, from, bytes);
    }

    c10::Allocator* host() const { return host_; }

private:
    c10::Allocator* host_;
};

Memory* memory = nullptr;

/// Releases memory of which only the address is known. oneDNN keeps its scratch memory so.
void release(void* address) {
    (is_device_memory(address) ? device_allocator() : memory->host())->raw_deleter()(address);
}

/// Sends allocations to the device while an operator runs.
class OperatorScope {
public:
    OperatorScope() : was_in_operator_(std::exchange(is_in_operator, true)) {}

    ~OperatorScope() { is_in_operator = was_in_operator_; }

    OperatorScope(const OperatorScope&) = delete;
    OperatorScope& operator=(const OperatorScope&) = delete;

private:
    bool was_in_operator_;
    at::AutoDispatchBelowADInplaceOrView no_autograd_;
    c10::impl::ExcludeDispatchKeyGuard no_autocast_{c10::autocast_dispatch_keyset};
};

// ---- order -------------------------------------------------------------------------------------

/// Waits for the current stream of a device.
void wait_for(c10::Device device, const c10::OperatorName& name) {
    void* stream = nullptr;
    TORCH_CHECK(aoti_torch_get_current_cuda_stream(device.index(), &stream) == 0,
                "PyTorch has no current stream for ", device);
    int capture = 0;
    cudaStreamIsCapturing(stream, &capture);
    TORCH_CHECK(capture == 0, name,
                " cannot be captured in a CUDA graph on the emulated device, where the CPU runs "
                "PyTorch's operators: capture only kernels of Triton or nvcc, or run the model "
                "without torch.cuda.graph");
    if (cudaStreamSynchronize(stream) == 0) {
        return;
    }
    // Let PyTorch raise its own exception for what a kernel did wrong.
    const c10::impl::VirtualGuardImpl guard(c10::kCUDA);
    guard.synchronizeStream(guard.getStream(device));
}

/// Tells the emulated device what an operator has written, for its check of uninitialised memory.
void mark_written(const c10::Storage& storage) {
    using Mark = void(const void*, size_t);
    static Mark* const mark = [] {
        void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        return driver == nullptr
                   ? nullptr
                   : reinterpret_cast<Mark*>(::dlsym(driver, "cuprumEmulatorMarkWritten"));
    }();
    if (mark != nullptr) {
        mark(storage.data(), storage.nbytes());
    }
}

// ---- random numbers ----------------------------------------------------------------------------

uint64_t mix(uint64_t value) { // splitmix64
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

/// Returns the seed for one operator, and advances the generator. The numbers are a function of the
/// generator's seed and offset, so that seeding and restoring its state work as on a GPU.
uint64_t next_seed(at::Generator generator) {
    const std::lock_guard lock(generator.mutex());
    const uint64_t offset = generator.get_offset();
    generator.set_offset(offset + OFFSET_STEP);
    return mix(generator.current_seed() ^ mix(offset));
}

at::Generator host_generator(const at::Generator& device_generator) {
    const uint64_t seed = next_seed(device_generator);
    at::Generator generator = at::detail::createCPUGenerator(seed);
    return generator;
}

/// Seeds the default generator of the CPU for operators that take no generator.
class SeededScope {
public:
    explicit SeededScope(uint64_t seed) : generator_(at::detail::getDefaultCPUGenerator()) {
        const std::lock_guard lock(generator_.mutex());
        before_ = generator_.get_state();
        generator_.set_current_seed(seed);
    }

    ~SeededScope() {
        const std::lock_guard lock(generator_.mutex());
        generator_.set_state(before_);
    }

    SeededScope(const SeededScope&) = delete;
    SeededScope& operator=(const SeededScope&) = delete;

private:
    at::Generator generator_;
    at::Tensor before_;
};

// ---- tensors -----------------------------------------------------------------------------------

at::Tensor make_tensor(c10::Storage storage, DispatchKey key, const c10::TensorImpl& like) {
    auto tensor = at::detail::make_tensor<c10::TensorImpl>(std::move(storage),
                                                           c10::DispatchKeySet(key), like.dtype());
    c10::TensorImpl* const made = tensor.unsafeGetTensorImpl();
    made->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
    made->_set_conj(like.is_conj());
    made->_set_neg(like.is_neg());
    return tensor;
}

/// Returns a sparse or nested tensor of another device whose members are those of this one,
/// changed.
template <typename Change>
at::Tensor with_members(const at::Tensor& tensor, c10::Device device, Change change) {
    if (tensor.is_nested()) { // what it says about its sizes is on the CPU in any case
        const auto* const nested = at::native::get_nested_tensor_impl(tensor);
        return at::_nested_view_from_buffer(
            change(nested->get_unsafe_storage_as_tensor()), nested->get_nested_sizes(),
            nested->get_nested_strides(), nested->get_storage_offsets());
    }
    const auto options =
        at::TensorOptions().dtype(tensor.dtype()).layout(tensor.layout()).device(device);
    if (tensor.is_sparse()) {
        return at::_sparse_coo_tensor_with_dims_and_tensors(
            tensor.sparse_dim(), tensor.dense_dim(), tensor.sizes(), change(tensor._indices()),
            change(tensor._values()), options, tensor.is_coalesced());
    }
    const auto* const members =
        static_cast<const at::SparseCsrTensorImpl*>(tensor.unsafeGetTensorImpl());
    return at::_sparse_compressed_tensor_unsafe(change(members->compressed_indices()),
                                                change(members->plain_indices()),
                                                change(members->values()), tensor.sizes(), options);
}

/// Gives a sparse tensor the members of another one.
void set_members(const at::Tensor& tensor, const at::Tensor& members) {
    if (tensor.is_sparse()) {
        auto* const sparse = static_cast<at::SparseTensorImpl*>(tensor.unsafeGetTensorImpl());
        sparse->raw_resize_(members.sparse_dim(), members.dense_dim(), members.sizes());
        sparse->set_indices_and_values_unsafe(members._indices(), members._values());
        sparse->set_coalesced(members.is_coalesced());
        return;
    }
    const auto* const from =
        static_cast<const at::SparseCsrTensorImpl*>(members.unsafeGetTensorImpl());
    static_cast<at::SparseCsrTensorImpl*>(tensor.unsafeGetTensorImpl())
        ->set_member_tensors(from->compressed_indices(), from->plain_indices(), from->values(),
                             members.sizes());
}

/// Returns whether a tensor consists of others.
bool has_members(const at::Tensor& tensor) {
    return tensor.is_nested() || tensor.layout() != c10::kStrided;
}

/// The tensors of one call: CUDA tensors with the CPU tensors that stand for them.
class Loan {
public:
    Loan(const c10::OperatorName& name, bool allows_devices)
        : name_(name), allows_devices_(allows_devices) {}

    /// Replaces what belongs to a CUDA device by what stands for it on the CPU.
    void lower(c10::IValue& value, bool is_written) {
        is_written_ = is_written;
        lower(value);
    }

    void lower(c10::IValue& value) {
        if (value.isTensor()) {
            value = lower(value.toTensor());
        } else if (value.isTensorList()) {
            c10::List<at::Tensor> list;
            for (const at::Tensor& each : value.toTensorVector()) {
                list.push_back(lower(each));
            }
            value = std::move(list);
        } else if (value.isList()) { // of optional tensors, of numbers
            const auto& type = value.toList().elementType();
            if (type->kind() != c10::TypeKind::OptionalType) {
                return;
            }
            c10::impl::GenericList list(type);
            for (c10::IValue each : value.toListRef()) {
                lower(each);
                list.push_back(std::move(each));
            }
            value = std::move(list);
        } else if (value.isDevice() && value.toDevice().is_cuda()) {
            meet(value.toDevice());
            value = c10::Device(c10::kCPU);
        } else if (value.isGenerator() && value.toGenerator().device().is_cuda()) {
            meet(value.toGenerator().device());
            value = host_generator(value.toGenerator());
        }
    }

    at::Tensor lower(const at::Tensor& tensor) {
        if (!tensor.defined()) {
            return tensor;
        }
        if (!tensor.is_cuda()) {
            has_host_tensor_ = has_host_tensor_ || (tensor.is_cpu() && tensor.dim() > 0);
            return tensor;
        }
        for (const Lent& each : tensors_) {
            if (each.device.is_same(tensor)) {
                return each.host;
            }
        }
        meet(tensor.device());
        at::Tensor host =
            has_members(tensor)
                ? with_members(tensor, c10::kCPU,
                               [this](const at::Tensor& member) { return lower(member); })
                : make_tensor(lower(tensor.storage()), DispatchKey::CPU,
                              *tensor.unsafeGetTensorImpl());
        tensors_.push_back({tensor, host});
        return host;
    }

    /// Refuses tensors of several devices as PyTorch does, and waits for the device.
    void begin() {
        TORCH_CHECK(!has_host_tensor_ || tensors_.empty() || allows_devices_,
                    "Expected all tensors to be on the same device, but found at least two "
                    "devices, ",
                    device(), " and cpu! (in ", name_, ")");
        wait_for(device(), name_);
        if (other_) {
            TORCH_CHECK(allows_devices_,
                        "Expected all tensors to be on the same device, but found "
                        "at least two devices, ",
                        device(), " and ", *other_, "! (in ", name_, ")");
            wait_for(*other_, name_);
        }
    }

    /// Gives CUDA tensors the sizes and the memory that the operator gave those that stand for
    /// them.
    void settle() {
        for (const auto& [device, host, is_written] : lent_storages_) {
            if (host.data() != device.data()) {
                device.unsafeGetStorageImpl()->set_data_ptr_noswap(take(host));
            }
            if (is_written) {
                mark_written(device);
            }
            if (host.nbytes() != device.nbytes()) {
                device.unsafeGetStorageImpl()->set_nbytes(host.nbytes());
            }
        }
        for (const Lent& each : tensors_) {
            const c10::TensorImpl& host = *each.host.unsafeGetTensorImpl();
            c10::TensorImpl& tensor = *each.device.unsafeGetTensorImpl();
            if (each.device.is_nested()) { // no operator changes its sizes
                continue;
            }
            if (has_members(each.device)) {
                set_members(each.device, lift_members(each.host));
            } else if (host.sizes() != tensor.sizes() || host.strides() != tensor.strides() ||
                       host.storage_offset() != tensor.storage_offset()) {
                tensor.set_sizes_and_strides(host.sizes(), host.strides(), host.storage_offset());
            }
        }
    }

    /// Replaces what the operator returned by what the caller gets.
    void lift(c10::IValue& value) {
        if (value.isTensor()) {
            value = lift(value.toTensor());
        } else if (value.isTensorList()) {
            c10::List<at::Tensor> list;
            for (const at::Tensor& each : value.toTensorVector()) {
                list.push_back(lift(each));
            }
            value = std::move(list);
        }
    }

    /// Returns the device of the first tensor or argument, or the current device.
    c10::Device device() {
        if (!device_) {
            device_ = c10::impl::VirtualGuardImpl(c10::kCUDA).getDevice();
        }
        return *device_;
    }

private:
    struct Lent {
        at::Tensor device;
        at::Tensor host;
    };

    void meet(c10::Device device) {
        if (!device.has_index()) {
            device = c10::impl::VirtualGuardImpl(c10::kCUDA).getDevice();
        }
        if (!device_) {
            device_ = device;
        } else if (*device_ != device) {
            other_ = device;
        }
    }

    c10::Storage lower(const c10::Storage& storage) {
        for (StoragePair& each : lent_storages_) {
            if (each.device.is_alias_of(storage)) {
                each.is_written |= is_written_;
                return each.host;
            }
        }
        at::DataPtr lent(storage.mutable_data(), c10::kCPU);
        c10::Storage host(c10::Storage::use_byte_size_t(), storage.nbytes(), std::move(lent),
                          memory, true);
        lent_storages_.push_back({storage, host, is_written_});
        return host;
    }

    at::Tensor lift(const at::Tensor& tensor) {
        if (!tensor.defined() || !tensor.is_cpu()) {
            return tensor;
        }
        for (const Lent& each : tensors_) {
            if (each.host.is_same(tensor)) {
                return each.device;
            }
        }
        TORCH_CHECK_NOT_IMPLEMENTED(!tensor.is_quantized(), name_,
                                    " makes a quantised tensor, which the emulated device does not "
                                    "support: use the CPU, or the integers themselves");
        if (has_members(tensor)) {
            return lift_members(tensor);
        }
        return make_tensor(lift(tensor.storage()), DispatchKey::CUDA,
                           *tensor.unsafeGetTensorImpl());
    }

    at::Tensor lift_members(const at::Tensor& tensor) {
        return with_members(tensor, device(),
                            [this](const at::Tensor& member) { return lift(member); });
    }

    c10::Storage lift(const c10::Storage& storage) {
        for (const auto* const storages : {&lent_storages_, &made_storages_}) {
            for (const StoragePair& each : *storages) {
                if (each.host.is_alias_of(storage)) {
                    return each.device;
                }
            }
        }
        c10::Storage made(c10::Storage::use_byte_size_t(), storage.nbytes(), take(storage),
                          device_allocator(), true);
        mark_written(made);
        made_storages_.push_back({made, storage, true});
        return made;
    }

    /// Takes over device memory that the operator allocated, or copies other memory.
    at::DataPtr take(const c10::Storage& host) {
        at::DataPtr& from = host.unsafeGetStorageImpl()->mutable_data_ptr();
        if (from.get() == nullptr) {
            return {nullptr, device()};
        }
        if (from.get_deleter() == device_allocator()->raw_deleter()) {
            return move_to(std::move(from), device());
        }
        at::DataPtr copy = device_allocator()->allocate(host.nbytes());
        std::memcpy(copy.get(), from.get(), host.nbytes());
        return copy;
    }

    struct StoragePair {
        c10::Storage device;
        c10::Storage host;
        bool is_written;
    };

    using Storages = c10::SmallVector<StoragePair, 4>;

    const c10::OperatorName& name_;
    bool allows_devices_;
    bool has_host_tensor_ = false;
    bool is_written_ = false; // the argument at hand
    std::optional<c10::Device> device_;
    std::optional<c10::Device> other_;
    c10::SmallVector<Lent, 4> tensors_;
    Storages lent_storages_;
    Storages made_storages_;
};

// ---- operators ---------------------------------------------------------------------------------

/// Returns whether an operator takes tensors of several devices, as on a GPU.
bool allows_devices(std::string_view name) {
    // Indices may be on the CPU; lists are taken apart; lengths and sizes are on the CPU.
    constexpr std::array prefixes{"index",          "_index_put",     "_unsafe_index",
                                  "_foreach_",      "_fused_",        "_amp_",
                                  "_ctc_loss",      "_nested_",       "_pack_padded",
                                  "_embedding_bag", "_use_cudnn_ctc", "repeat_interleave"};
    for (const std::string_view prefix : prefixes) {
        if (name.starts_with(prefix)) {
            return true;
        }
    }
    return false;
}

/// Runs an operator by its CPU kernel.
class Operator final : public c10::OperatorKernel {
public:
    Operator(const c10::OperatorHandle& handle, DispatchKey host_key)
        : host_key_(host_key),
          is_for_each_(handle.operator_name().name.starts_with("aten::_foreach_")),
          allows_devices_(allows_devices(
              std::string_view(handle.operator_name().name).substr(NAMESPACE.size()))) {
        for (const c10::Argument& each : handle.schema().arguments()) {
            is_written_.push_back(each.alias_info() != nullptr && each.alias_info()->isWrite());
        }
        if (!handle.hasTag(at::Tag::nondeterministic_seeded)) {
            return;
        }
        is_random_ = true;
        const auto& arguments = handle.schema().arguments();
        for (size_t index = 0; index < arguments.size(); ++index) {
            if (arguments[index].type()->str().find("Generator") != std::string::npos) {
                generator_ = index;
            }
        }
    }

    void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet, Stack* stack) {
        const size_t arguments = handle.schema().arguments().size();
        if (is_for_each_ && has_devices(last(*stack, arguments))) {
            // Takes the lists apart, as on a GPU.
            handle.callBoxedForDispatchKey(DispatchKey::CompositeExplicitAutograd, *stack);
            return;
        }
        const size_t returns = handle.schema().returns().size();
        Loan loan(handle.operator_name(), allows_devices_);
        for (size_t index = 0; c10::IValue & each : last(*stack, arguments)) {
            loan.lower(each, is_written_[index++]);
        }
        loan.begin();
        const c10::DeviceGuard guard(loan.device());
        std::optional<SeededScope> seeded;
        if (is_random_) {
            seed(last(*stack, arguments), loan.device(), seeded);
        }
        {
            const OperatorScope scope;
            handle.redispatchBoxed(c10::DispatchKeySet(host_key_), stack);
            loan.settle();
            for (c10::IValue& each : last(*stack, returns)) {
                loan.lift(each);
            }
        }
    }

private:
    static std::span<c10::IValue> last(Stack& stack, size_t count) {
        return std::span(stack).last(count);
    }

    /// Returns whether lists have tensors of several devices.
    static bool has_devices(std::span<c10::IValue> arguments) {
        std::optional<c10::Device> first;
        for (const c10::IValue& each : arguments) {
            if (!each.isTensorList()) {
                continue;
            }
            for (const c10::IValue& tensor : each.toListRef()) {
                const c10::Device device = tensor.toTensor().device();
                if (first.value_or(device) != device) {
                    return true;
                }
                first = device;
            }
        }
        return false;
    }

    void seed(std::span<c10::IValue> arguments, c10::Device device,
              std::optional<SeededScope>& scope) {
        if (generator_ && !arguments[*generator_].isNone()) {
            return;
        }
        const at::Generator generator = at::globalContext().defaultGenerator(device);
        if (generator_) {
            arguments[*generator_] = host_generator(generator);
        } else {
            scope.emplace(next_seed(generator));
        }
    }

    DispatchKey host_key_;
    bool is_for_each_;
    bool allows_devices_;
    bool is_random_ = false;
    std::optional<size_t> generator_; // which argument
    std::vector<bool> is_written_;    // for each argument
};

/// Answers no to the question whether an operator of cuDNN or MIOpen can be used.
class No final : public c10::OperatorKernel {
public:
    void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet, Stack* stack) {
        torch::jit::drop(*stack, handle.schema().arguments().size());
        stack->emplace_back(false);
    }
};

/// Refuses an operator that has no CPU kernel.
class Refused final : public c10::OperatorKernel {
public:
    void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet, Stack*) {
        TORCH_CHECK_NOT_IMPLEMENTED(
            false, handle.operator_name(),
            " has no CPU kernel, which the emulated device needs: use another operator, or give it "
            "one with torch.library.impl(\"",
            handle.operator_name(), "\", \"CUDA\")");
    }
};

/// Copies between devices, and from and to the CPU.
at::Tensor& copy(at::Tensor& self, const at::Tensor& source, bool non_blocking) {
    const bool is_plain = self.sizes() == source.sizes() && self.dtype() == source.dtype() &&
                          self.is_contiguous() && source.is_contiguous() &&
                          self.is_conj() == source.is_conj() && self.is_neg() == source.is_neg();
    if (is_plain) { // the runtime library copies memory, in the order of the stream
        return at::native::copy_(self, source, non_blocking);
    }
    static const c10::OperatorName name("aten::copy_", "");
    Loan loan(name, true);
    at::Tensor to = loan.lower(self);
    const at::Tensor from = loan.lower(source);
    loan.begin();
    const at::AutoDispatchBelowADInplaceOrView no_autograd;
    to.copy_(from);
    if (self.is_cuda()) {
        mark_written(self.storage());
    }
    return self;
}

/// Runs an operator by its definition in terms of others, which are differentiable.
class Composite final : public c10::OperatorKernel {
public:
    void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet, Stack* stack) {
        handle.callBoxedForDispatchKey(DispatchKey::CompositeImplicitAutograd, *stack);
    }
};

/// Runs attention by its plain definition: fused kernels are for GPUs only.
class Attention final : public c10::OperatorKernel {
public:
    void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, Stack* stack) {
        static const auto plain = c10::Dispatcher::singleton().findSchemaOrThrow(
            "aten::_scaled_dot_product_attention_math", "");
        constexpr ptrdiff_t AFTER_DROPOUT_MASK = 2; // scale and enable_gqa
        stack->insert(stack->end() - AFTER_DROPOUT_MASK, c10::IValue());
        plain.callBoxed(*stack);
    }
};

at::Tensor with_bias(const at::Tensor& gates, const std::optional<at::Tensor>& bias) {
    return bias && bias->defined() ? gates + *bias : gates;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor>
lstm_cell(const at::Tensor& input, const at::Tensor& hidden, const at::Tensor& cell,
          const std::optional<at::Tensor>& input_bias,
          const std::optional<at::Tensor>& hidden_bias) {
    const at::Tensor gates = with_bias(input, input_bias) + with_bias(hidden, hidden_bias);
    const auto parts = gates.chunk(4, 1);
    const at::Tensor next = parts[1].sigmoid() * cell + parts[0].sigmoid() * parts[2].tanh();
    return {parts[3].sigmoid() * next.tanh(), next, gates};
}

std::tuple<at::Tensor, at::Tensor> gru_cell(const at::Tensor& input, const at::Tensor& hidden,
                                            const at::Tensor& state,
                                            const std::optional<at::Tensor>& input_bias,
                                            const std::optional<at::Tensor>& hidden_bias) {
    const auto in = with_bias(input, input_bias).chunk(3, 1);
    const auto from_state = with_bias(hidden, hidden_bias).chunk(3, 1);
    const at::Tensor reset = (in[0] + from_state[0]).sigmoid();
    const at::Tensor update = (in[1] + from_state[1]).sigmoid();
    const at::Tensor next = (in[2] + reset * from_state[2]).tanh();
    return {(state - next) * update + next, from_state[2]};
}

/// Returns whether an operator of PyTorch works without a kernel: it allocates, changes what a
/// tensor says about its memory, or calls the runtime library.
bool is_kept(std::string_view name) {
    static const std::set<std::string_view> names{
        // allocate
        "empty.memory_format", "empty_strided", "_efficientzerotensor", "_lazy_clone",
        "_cudnn_init_dropout_state", "_sparse_coo_tensor_with_dims",
        "_sparse_coo_tensor_with_dims_and_tensors", "_sparse_compressed_tensor_with_dims",
        "_pin_memory", "is_pinned", "record_stream",
        // say something else about the same memory
        "alias", "as_strided", "detach", "unfold", "view", "view_as_complex", "view_as_real",
        "_reshape_alias", "_nested_view_from_buffer", "_nested_tensor_size",
        "_nested_tensor_strides", "_nested_tensor_storage_offsets", "is_set_to",
        "_has_same_storage_numel", "set_", "set_.source_Storage",
        "set_.source_Storage_storage_offset", "set_.source_Tensor", "resize_", "_resize_output_",
        "sparse_resize_", "sparse_resize_and_clear_", "_coalesced_", "is_coalesced", "sparse_dim",
        "dense_dim", "_dimI", "_dimV", "_nnz", "_indices", "_values", "indices", "values",
        "crow_indices", "col_indices", "ccol_indices", "row_indices", "resize_as_sparse_",
        "copy_sparse_to_sparse_"};
    return names.contains(name);
}

/// Operators with one kernel for all devices, which looks at the device and starts CUDA's code.
const std::array SHARED_OPERATORS{
    c10::OperatorName("aten::convolution", ""),
    c10::OperatorName("aten::convolution_backward", ""),
    c10::OperatorName("aten::ldexp", "Tensor"),
    c10::OperatorName("aten::ldexp", "out"),
};

struct Replacement {
    DispatchKey device;
    DispatchKey host;
};

constexpr std::array REPLACEMENTS{
    Replacement{DispatchKey::CUDA, DispatchKey::CPU},
    Replacement{DispatchKey::SparseCUDA, DispatchKey::SparseCPU},
    Replacement{DispatchKey::SparseCsrCUDA, DispatchKey::SparseCsrCPU},
    Replacement{DispatchKey::NestedTensorCUDA, DispatchKey::NestedTensorCPU},
};

void replace_operators(const Replacement& keys) {
    // Kept for the life of the process, as PyTorch's own.
    auto& library =
        *new torch::Library(torch::Library::IMPL, "aten", keys.device, __FILE__, __LINE__);
    auto& dispatcher = c10::Dispatcher::singleton();
    auto names = dispatcher.getRegistrationsForDispatchKey(keys.device);
    if (keys.device == DispatchKey::CUDA) {
        names.insert(names.end(), SHARED_OPERATORS.begin(), SHARED_OPERATORS.end());
        library.impl("copy_", TORCH_FN(copy));
    }
    for (const c10::OperatorName& name : names) {
        const auto handle = dispatcher.findSchema(name);
        const std::string own = c10::toString(name).substr(NAMESPACE.size());
        if (!handle || !name.name.starts_with(NAMESPACE) || is_kept(own)) {
            continue;
        }
        if (handle->hasComputedKernelForDispatchKey(keys.host)) {
            library.impl(own.c_str(), torch::CppFunction::makeFromBoxedFunctor(
                                          std::make_unique<Operator>(*handle, keys.host)));
        } else if (own.starts_with("_use_")) {
            library.impl(own.c_str(),
                         torch::CppFunction::makeFromBoxedFunctor(std::make_unique<No>()));
        } else {
            library.impl(own.c_str(),
                         torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Refused>()));
        }
    }
}

template <typename Kernel>
void implement(torch::Library& library, const char* name) {
    if (c10::Dispatcher::singleton().findOp(c10::OperatorName(std::string(NAMESPACE) + name, ""))) {
        library.impl(name, torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Kernel>()));
    }
}

/// Defines operators that PyTorch has for GPUs alone by others, with gradients and without.
void define_operators() {
    for (const DispatchKey key : {DispatchKey::CUDA, DispatchKey::AutogradCUDA}) {
        auto& library = *new torch::Library(torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
        implement<Attention>(library, "scaled_dot_product_attention");
        implement<Composite>(library, "_fused_rms_norm");
        library.impl("_thnn_fused_lstm_cell", TORCH_FN(lstm_cell));
        library.impl("_thnn_fused_gru_cell", TORCH_FN(gru_cell));
    }
}

/// Takes warnings that are about what activate() does on purpose.
struct NoWarnings final : c10::WarningHandler {
    void process(const c10::Warning&) override {}
};

} // namespace

/// Replaces the kernels. Returns nullptr, or a text that says what failed.
extern "C" const char* cuprum_torch_activate() {
    static std::string failure;
    try {
        NoWarnings none;
        const c10::WarningUtils::WarningHandlerGuard quiet(&none);
        memory = new Memory(c10::GetAllocator(c10::kCPU));
        c10::SetAllocator(c10::kCPU, memory, 1);
        for (const Replacement& keys : REPLACEMENTS) {
            replace_operators(keys);
        }
        define_operators();
        // Composite operators would choose those of cuDNN.
        at::globalContext().setUserEnabledCuDNN(false);
        return nullptr;
    } catch (const std::exception& error) {
        failure = error.what();
        return failure.c_str();
    }
}
