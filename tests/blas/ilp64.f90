! SPDX-License-Identifier: MIT
! Compiled with -fdefault-integer-8: plain names with 64-bit integers, which VKGEMM_BLAS_ILP64=1 makes the library read.
program ilp64
  implicit none
  integer, parameter :: n = 30
  double precision :: a(n, n), b(n, n), c(n, n), x(n, 3), y(n, 3)
  real :: s(n, n), t(n, n), u(n, n)
  integer :: pivots(n), info, i, j
  do j = 1, n
    do i = 1, n
      a(i, j) = mod(7 * i + 3 * j, 11) - 5
      b(i, j) = mod(5 * i + 2 * j, 7) - 3
    end do
    a(j, j) = a(j, j) + 100
  end do
  s = real(a)
  t = real(b)
  call sgemm('N', 'T', n, n, n, 1.0, s, n, t, n, 0.0, u, n)
  call check('sgemm', maxval(abs(dble(u - matmul(s, transpose(t))))))
  call dgemm('T', 'N', n, n, n, 1d0, a, n, b, n, 0d0, c, n)
  call check('dgemm', maxval(abs(c - matmul(transpose(a), b))))
  call dsyrk('U', 'N', n, n, 1d0, b, n, 0d0, c, n)
  call check('dsyrk', abs(c(3, 20) - dot_product(b(3, :), b(20, :))))
  x = b(:, 1:3)
  y = x
  c = a
  info = -1
  call dgesv(n, 3, c, n, pivots, y, n, info)
  call check('dgesv', maxval(abs(matmul(a, y) - x)) + abs(info))
  print *, 'right'
contains
  subroutine check(name, error)
    character(*), intent(in) :: name
    double precision, intent(in) :: error
    if (.not. error < 1d-9) then
      print *, name, ' is wrong by ', error
      stop 1
    end if
  end subroutine
end program
