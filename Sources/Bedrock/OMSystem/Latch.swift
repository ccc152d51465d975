internal import Glibc

/// Blocks threads until one thread opens it. After that it stays open.
package final class Latch: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    package init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    package func open() { sem_post(semaphore) }

    package func wait() {
        while sem_wait(semaphore) != 0, errno == EINTR {}
        sem_post(semaphore)
    }
}
